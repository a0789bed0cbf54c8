// Package standin is a server that stands in for a language model: for tests, for the demo, and for working without a key.
//
//	server := standin.New(standin.Options{})
//	url, err := server.Start(ctx, "127.0.0.1:0")
//	defer server.Close()
//	model, err := gemini.New(ctx, gemini.Options{Key: "any", Model: "gemini-2.5-flash", Endpoint: url})
//
// It speaks the Gemini REST API (POST /v1beta/models/{model}:generateContent, models and countTokens) with what is odd
// about it: keys in the query or in a header, enumerations as numbers or as names, requests refused for what the API
// refuses, a wrong key that is a 400, a 429 with or without details, answers cut off without a word, parts and ends that an
// old client does not know. It also speaks the chat completions of the OpenAI-compatible servers (POST
// /v1/chat/completions), so that another client is held to the same answers.
//
// # What it answers
//
// A Script is answered first, one Reply to a question, in order: what a test wants to happen. When it is used up, the Rule
// answers:
//
//   - Rules, the default, is a small deterministic planner. It reads the question as a model would: every JSON object in
//     the texts counts as material, and it takes what it needs by name, wherever it stands. A `boundary` (with a
//     `reason_code` in it) asks for a decision; otherwise an `utterance` (a text, or an object with `recognized_text`, or
//     plain text) asks for a plan. `capabilities` are the catalog's own, `rooms` the device's, `options` the decisions that
//     are allowed, `locale` the language.
//     It plans with the words of the catalog's titles and descriptions, decides by reason code, and says honestly that it
//     does not know. What it answers has the shape of the schema it was given, and nothing that the schema does not have:
//     structured output cannot say more.
//   - Obey, for tests of hostile text, does whatever any text in the question says, wherever it came from, in whatever
//     shape: see there.
//
// Nothing here is intelligent, and no test should hold that a plan is good: what is tested is all around it.
package standin
