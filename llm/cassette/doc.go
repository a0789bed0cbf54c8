// Package cassette keeps exchanges with a language model in files, and answers from them: tests and the demo are then the
// same every time, need no key and cost nothing.
//
//	model = cassette.Record(model, "testdata/cassette") // asks the model, and keeps what it says
//	model, err := cassette.Open("testdata/cassette")    // answers from the files alone
//
// A question is known by the hash of its content: instructions, contents, schema, the length allowed for the answer, and
// what of it is personal. Any change of a question is another question. Which plan asks and which model is asked are no
// part of it. So whoever makes a question keeps out of it what changes every time: ids, the time.
//
// A question that no file answers is an error (llm.Unrecorded), never a call to a live model. The error names the nearest
// recorded question, and the part in which this one differs.
//
// # What a file holds
//
// Of the question, only hashes and lengths: not a word of what a person said or a device reported. Of the answer, its text,
// with every string that the request lists as Personal replaced by a reference to that list, {{personal:0}}. When the
// exchange is played, the same question comes with the same list, and the text is whole again. An answer that tells a
// personal string in a form that is not recognised is not kept, and the call says so.
//
// Two things remain to be known. What a request does not list as Personal, the answer may repeat, and the file then has it.
// And a hash does not hide a short text from someone who can guess it. Record what is published with invented people and
// homes.
//
// Kept are answers, and failures that are the model's own (llm.Kind.Answered): blocked, cut off, empty, malformed. That a
// server was busy or a key wrong is not the model's doing, and is not kept.
package cassette
