// Package gemini asks Google's Gemini models.
//
// The library that does it, github.com/google/generative-ai-go, is frozen, so it is held at arm's length: client.go is the
// only file that knows it. The rest reads the wire itself, because the library keeps some of it back:
//
//   - It tries a 503 again by itself until the context's deadline, and then tells of the deadline alone. Here the first 503
//     ends the call, as llm.Unavailable: Temporal owns the retries.
//   - It drops an end that is newer than itself (MALFORMED_FUNCTION_CALL and others), the model's version, and the tokens
//     of an answer that was blocked. They are read from the answer's own text.
//   - It takes a thought for the answer, and gives up at a part that is newer than itself. Only the model's text is left in
//     what it gets to read.
//   - It hides the details of a 429. They say when there is room again (llm.Error.RetryAfter), and whether it is the day's
//     quota that is spent (llm.QuotaSpent), when waiting is in vain.
//   - It puts the key into the URL, and so into every error about a connection. Here the key travels in a header.
//
// A Model is made once for a process: the library holds a connection of its own for a part that is not used here, and does
// not let go of it on Close.
package gemini
