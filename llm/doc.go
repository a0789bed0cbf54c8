// Package llm is the one door to language models: whoever asks a model asks through Model, whatever model it is.
//
//	model, err := gemini.New(ctx, gemini.Options{Key: key, Model: "gemini-2.5-flash"})
//	answer, err := model.Generate(ctx, llm.Request{
//		Instructions: "Answer with a plan.",          // ours: the model is told to do this
//		Contents:     []string{utterance, context},   // others': the model is told about this
//		Schema:       &planSchema,
//	})
//
// Generate holds three promises, so that no caller has to remember them:
//
//   - An answer is whole. A Response is what the model said when it came to its end by itself: with text, and, where a
//     Schema was given, one JSON value. An answer that was blocked, cut off, empty or malformed is an *Error, even where
//     the model's server says 200 and its client library says nothing.
//   - One call is one try, with a deadline of its own (Limits.Timeout). Nothing is tried again inside: Temporal owns the
//     retries, and an *Error says whether and when (Retryable, RetryAfter). Package temporalerr tells Temporal so.
//   - What it cost is told in either case: Meta has the tokens, the latency and the model's version.
//
// An answer is untrusted: Generate does not look whether it fits the Schema or makes sense. A plan in it passes the same
// gate as any other (law 14).
//
// # What is around a model
//
// Each wraps a Model and is one, so they stack: Observe tells of every call; budget.Guard refuses what a plan or a month
// may not spend; cassette.Recorder keeps the exchanges, and cassette.Player answers from them alone. None is the model of
// an installation without one. Package standin is a server to ask when there is no key.
//
// # What is sent
//
// Instructions, Contents and Schema, and nothing else. PlanID and Purpose are for the budget and the metrics, Personal is
// for the cassettes; none of the three leaves the process with a request.
package llm
