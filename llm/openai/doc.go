// Package openai asks any model behind an OpenAI-compatible endpoint: Ollama, vLLM, llama.cpp's server, or OpenAI's own.
//
//	model, err := openai.New(openai.Options{Endpoint: "http://127.0.0.1:11434/v1", Model: "qwen3:8b"})
//
// It is the second implementation of llm.Model, and a measure of the first: the same promises, the same kinds of failure.
// A schema goes to the server as response_format json_schema. Servers that do not know it answer in their own way, which
// then is llm.Malformed.
package openai
