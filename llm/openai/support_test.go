package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"errand/llm"
	"errand/llm/openai"
	"errand/llm/standin"
)

// carry answers requests without a network.
type carry struct{ handler http.Handler }

func (c carry) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// A local server needs no key.
func Example() {
	server := standin.New(standin.Options{})
	server.Script(standin.Answer(`{"decision":"ask"}`))
	model, err := openai.New(openai.Options{Endpoint: "http://127.0.0.1:11434/v1", Model: "qwen3:8b", Transport: carry{server}})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := model.Generate(context.Background(), llm.Request{Instructions: "Decide.", Contents: []string{"the path is blocked"}})
	fmt.Println(answer.Text, answer.Finish, err)
	// Output: {"decision":"ask"} stop <nil>
}
