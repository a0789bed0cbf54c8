package wire

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"errand/internal/border"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// Schemas holds the JSON Schema (2020-12) of each document type, one file each: task_event.json, connect.json, ...
// They describe the form after aliases are folded: the one we write.
func Schemas() fs.FS {
	files, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	return files
}

// document is how one type is read at the border: limits, then aliases, then schema, then the Go type.
type document struct {
	limits  border.Limits
	aliases []alias
	schema  *border.Schema
	noNulls bool
}

func newDocument(name string, limits border.Limits, aliases []alias) *document {
	text, err := schemaFiles.ReadFile("schema/" + name + ".json")
	if err != nil {
		panic(err) // a file of the program
	}
	return &document{limits: limits, aliases: aliases, schema: border.MustCompile(name, text)}
}

// smallDocument bounds requests and answers; they carry no large text.
var smallDocument = border.Limits{Bytes: 256 << 10, Depth: 32, StringRunes: 65_536, List: 4_096, Keys: 1_000}

var (
	connectDoc      = newDocument("connect", border.Limits{Bytes: MaxFrameBeforeConnect, Depth: 16, StringRunes: 8_192, List: 2_048, Keys: 512}, nil).withoutNulls()
	helloDoc        = newDocument("hello", border.Limits{Bytes: 1 << 20, Depth: 16, StringRunes: 8_192, List: 2_048, Keys: 2_048}, nil).withoutNulls()
	challengeDoc    = newDocument("challenge", smallDocument, nil)
	invokeDoc       = newDocument("invoke_request", smallDocument, nil)
	invokeResultDoc = newDocument("invoke_result", smallDocument, nil)
	invokeCancelDoc = newDocument("invoke_cancel", smallDocument, nil)
	invokeHeldDoc   = newDocument("invoke_held", smallDocument, nil)
	certificateDoc  = newDocument("certificate_notice", smallDocument, nil).withoutNulls()
	nodeEventDoc    = newDocument("node_event", smallDocument, nil)
	batchDoc        = newDocument("event_batch", smallDocument, nil).withoutNulls()
	responseDoc     = newDocument("response", smallDocument, nil).withoutNulls()
	eventAckDoc     = newDocument("event_ack", smallDocument, []alias{{"event_id", "eventId"}})

	taskDoc         = newDocument("task", smallDocument, taskAliases)
	submitAnswerDoc = newDocument("submit_answer", answerLimits, submitAnswerAliases)
	statusQueryDoc  = newDocument("status_query", smallDocument, queryAliases)
	statusAnswerDoc = newDocument("status_answer", answerLimits, statusAnswerAliases)
	cancelQueryDoc  = newDocument("cancel_query", smallDocument, queryAliases)
	cancelAnswerDoc = newDocument("cancel_answer", answerLimits, cancelAnswerAliases)
	sayDoc          = newDocument("say", smallDocument, nil)
	askDoc          = newDocument("ask", smallDocument, askAliases)
	answerEventDoc  = newDocument("answer_event", smallDocument, answerEventAliases)
)

// answerLimits leave room for a stored terminal event of full size inside an answer.
var answerLimits = border.Limits{Bytes: 2 * MaxTaskEvent, Depth: 32, StringRunes: 65_536, List: 10_000, Keys: 1_000}

// withoutNulls reads null as absent at every depth, for documents that hold nobody else's fields.
func (d *document) withoutNulls() *document {
	d.noNulls = true
	return d
}

func dropNulls(v any) {
	switch node := v.(type) {
	case []any:
		for _, item := range node {
			dropNulls(item)
		}
	case map[string]any:
		for key, item := range node {
			if item == nil {
				delete(node, key)
			}
			dropNulls(item)
		}
	}
}

// object parses a document and brings it to one spelling. The faults are of the spelling; err is anything worse.
func (d *document) object(raw []byte) (map[string]any, border.Faults, error) {
	tree, err := border.Parse(raw, d.limits)
	if err != nil {
		return nil, nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, nil, border.Faults{{Code: "wrong_type", Message: "must be a JSON object"}}
	}
	if d.noNulls {
		dropNulls(object)
	}
	return object, fold(object, d.aliases), nil
}

// read parses, checks and fills. Every failure is border.Faults.
func (d *document) read(raw []byte, into any) error {
	object, faults, err := d.object(raw)
	if err != nil {
		return err
	}
	return d.finish(object, faults, into)
}

func (d *document) finish(object map[string]any, faults border.Faults, into any) error {
	if faults = append(faults, d.schema.Check(object)...); len(faults) > 0 {
		return faults
	}
	return border.Fill(object, into)
}

// readAround reads a document whose named fields are somebody else's document: they come back as they were sent.
func (d *document) readAround(raw []byte, into any, opaque ...string) (map[string]json.RawMessage, error) {
	fields, faults := members(raw)
	if len(faults) > 0 {
		return nil, faults
	}
	kept := make(map[string]json.RawMessage, len(opaque))
	for _, name := range opaque {
		if v, ok := fields[name]; ok && string(v) != "null" {
			kept[name] = v
		}
		delete(fields, name)
	}
	own, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("write the document's own fields: %w", err)
	}
	return kept, d.read(own, into)
}
