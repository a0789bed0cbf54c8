package tests

import (
	"context"
	"strings"

	"errand/llm/standin"
)

// questions lists those with a word in them.
func (m *mind) questions(word string) (about []standin.Question) {
	for _, q := range m.Questions() {
		if strings.Contains(strings.Join(q.Contents, "\n"), word) {
			about = append(about, q)
		}
	}
	return about
}

// asks is the condition that so many questions with a word have come.
func (m *mind) asks(word string, n int) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) { return len(m.times(word)) >= n, nil }
}
