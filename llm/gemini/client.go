package gemini

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/generative-ai-go/genai"
	"google.golang.org/api/option"

	"errand/llm"
)

// client is the library: to change it is to change this file.
type client struct {
	genai *genai.Client
	name  string
}

func newClient(ctx context.Context, o Options, carrier *http.Client) (*client, error) {
	// The key is needed by a part of the library that is not used here; the carrier puts it on the requests.
	options := []option.ClientOption{option.WithAPIKey(o.Key), option.WithHTTPClient(carrier)}
	if o.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(o.Endpoint, "/")))
	}
	c, err := genai.NewClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &client{genai: c, name: o.Model}, nil
}

func (c *client) close() error { return c.genai.Close() }

// ask returns the text of the first candidate.
func (c *client) ask(ctx context.Context, r llm.Request) (string, error) {
	answer, err := c.model(r).GenerateContent(ctx, parts(r.Contents)...)
	if err != nil {
		return "", err
	}
	if len(answer.Candidates) == 0 || answer.Candidates[0].Content == nil {
		return "", nil
	}
	var b strings.Builder
	for _, part := range answer.Candidates[0].Content.Parts {
		if words, ok := part.(genai.Text); ok {
			b.WriteString(string(words))
		}
	}
	return b.String(), nil
}

// model is the question's setting. At temperature 0 the same question gets the same answer, as far as a model can.
func (c *client) model(r llm.Request) *genai.GenerativeModel {
	m := c.genai.GenerativeModel(c.name)
	m.SetTemperature(0)
	m.SetCandidateCount(1)
	m.SetMaxOutputTokens(int32(min(r.Limits.OrDefaults().MaxOutputTokens, 1<<20)))
	if r.Instructions != "" {
		m.SystemInstruction = genai.NewUserContent(genai.Text(r.Instructions))
	}
	if r.Schema != nil {
		m.ResponseMIMEType = "application/json"
		m.ResponseSchema = schema(r.Schema)
	}
	return m
}

func parts(contents []string) []genai.Part {
	list := make([]genai.Part, len(contents))
	for i, text := range contents {
		list[i] = genai.Text(text)
	}
	return list
}

var types = map[llm.Type]genai.Type{
	llm.String: genai.TypeString, llm.Number: genai.TypeNumber, llm.Integer: genai.TypeInteger,
	llm.Boolean: genai.TypeBoolean, llm.Array: genai.TypeArray, llm.Object: genai.TypeObject,
}

func schema(s *llm.Schema) *genai.Schema {
	if s == nil {
		return nil
	}
	out := &genai.Schema{Type: types[s.Type], Description: s.Description, Nullable: s.Nullable, Enum: s.Enum,
		Items: schema(s.Items), Required: s.Required}
	if len(s.Enum) > 0 {
		out.Format = "enum"
	}
	for name, property := range s.Properties {
		if out.Properties == nil {
			out.Properties = make(map[string]*genai.Schema, len(s.Properties))
		}
		out.Properties[name] = schema(property)
	}
	return out
}
