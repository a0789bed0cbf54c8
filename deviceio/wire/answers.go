package wire

import (
	"encoding/json"
	"errors"

	"errand/internal/border"
)

// The parsers below read one document type each. Unknown fields are ignored, types are strict, null is absent,
// and every failure is border.Faults.

// ParseTask reads the params of submitTask.
func ParseTask(raw json.RawMessage) (Task, error) { return parse[Task](taskDoc, raw) }

// ParseStatusQuery reads the params of getTaskStatus: a task id or an operation id.
func ParseStatusQuery(raw json.RawMessage) (StatusQuery, error) {
	return parse[StatusQuery](statusQueryDoc, raw)
}

// ParseCancelQuery reads the params of cancelTask: a task id or an operation id, and why.
func ParseCancelQuery(raw json.RawMessage) (CancelQuery, error) {
	return parse[CancelQuery](cancelQueryDoc, raw)
}

// ParseSay reads the params of assistant.say.
func ParseSay(raw json.RawMessage) (Say, error) { return parse[Say](sayDoc, raw) }

// ParseAsk reads the params of assistant.ask.
func ParseAsk(raw json.RawMessage) (Ask, error) { return parse[Ask](askDoc, raw) }

// ParseEventAck reads the payload of the answer ok:true to an event.
func ParseEventAck(raw json.RawMessage) (EventAck, error) { return parse[EventAck](eventAckDoc, raw) }

// ParseAnswerEvent reads the payload of the event assistant.answer. A failure is a *RefusedEvent.
func ParseAnswerEvent(raw json.RawMessage) (AnswerEvent, error) {
	a, err := parse[AnswerEvent](answerEventDoc, raw)
	if err != nil {
		return AnswerEvent{}, refuse(raw, err)
	}
	return a, nil
}

// ParseSubmitAnswer reads the answer to submitTask.
func ParseSubmitAnswer(raw json.RawMessage) (SubmitAnswer, error) {
	var a SubmitAnswer
	object, faults, err := submitAnswerDoc.object(raw)
	if err != nil {
		return a, err
	}
	fallback(object, "status", "taskState")
	err = finishAnswer(submitAnswerDoc, object, faults, &a, &a.TerminalEvent)
	return a, err
}

// ParseStatusAnswer reads the answer to getTaskStatus.
func ParseStatusAnswer(raw json.RawMessage) (StatusAnswer, error) {
	var a StatusAnswer
	object, faults, err := statusAnswerDoc.object(raw)
	if err != nil {
		return a, err
	}
	err = finishAnswer(statusAnswerDoc, object, faults, &a, &a.TerminalEvent)
	return a, err
}

// ParseCancelAnswer reads the answer to cancelTask.
func ParseCancelAnswer(raw json.RawMessage) (CancelAnswer, error) {
	var a CancelAnswer
	object, faults, err := cancelAnswerDoc.object(raw)
	if err != nil {
		return a, err
	}
	err = finishAnswer(cancelAnswerDoc, object, faults, &a, &a.TerminalEvent)
	return a, err
}

// finishAnswer reads the stored terminal event as any other event, aliases and all, and the rest by its schema.
func finishAnswer(d *document, object map[string]any, faults border.Faults, into any, terminal **TaskEvent) error {
	stored, ok := object["terminal_event"].(map[string]any)
	if ok {
		delete(object, "terminal_event")
	}
	if err := d.finish(object, faults, into); err != nil || !ok {
		return err
	}
	e, err := taskEvent(stored, fold(stored, taskEventAliases))
	if err != nil {
		return under("terminal_event", err)
	}
	*terminal = &e
	return nil
}

// under moves the faults of a part to where the part is.
func under(path string, err error) error {
	var faults border.Faults
	if !errors.As(err, &faults) {
		return err
	}
	moved := make(border.Faults, len(faults))
	for i, f := range faults {
		f.Path = join(path, f.Path)
		moved[i] = f
	}
	return moved
}

func parse[T any](d *document, raw json.RawMessage) (T, error) {
	var into, none T
	if err := d.read(raw, &into); err != nil {
		return none, err
	}
	return into, nil
}

func join(path, field string) string {
	if field == "" || field[0] == '[' {
		return path + field
	}
	return path + "." + field
}
