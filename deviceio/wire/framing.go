package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"errand/internal/border"
)

// maxName bounds ids, methods and event names of a frame, in bytes; maxMembers how many members an object may have that is
// split without being read: a frame has room for a million, and each costs.
const (
	maxName    = 256
	maxMembers = 1_000
)

// BadFrame says why a message is no frame. ID is the request's id where it could be read, so that it can be answered.
type BadFrame struct {
	ID     string
	Faults border.Faults
}

func (b *BadFrame) Error() string { return "not a frame of the protocol: " + b.Faults.Error() }

// Unwrap gives the faults to errors.As.
func (b *BadFrame) Unwrap() error { return b.Faults }

// ParseFrame reads one message of the socket. It checks the frame only: params and payload stay as they came,
// for the parser of their own type. Every failure is a *BadFrame.
//
//	req    id, method, params?
//	res    id, ok, payload?, error{code, message} exactly where ok is false
//	event  event, payload?, seq?
func ParseFrame(data []byte) (Frame, error) {
	if len(data) > MaxPayload {
		return Frame{}, &BadFrame{Faults: border.Faults{{Code: "too_large", Message: fmt.Sprintf(
			"the frame has %d bytes, may have %d: send less", len(data), MaxPayload)}}}
	}
	fields, faults := members(data)
	if len(faults) > 0 {
		return Frame{}, &BadFrame{ID: text(fields["id"]), Faults: faults}
	}
	r := frameReader{fields: fields}
	f := r.frame()
	if len(r.faults) > 0 {
		return Frame{}, &BadFrame{ID: f.ID, Faults: r.faults}
	}
	return f, nil
}

type frameReader struct {
	fields map[string]json.RawMessage
	faults border.Faults
}

func (r *frameReader) frame() Frame {
	f := Frame{Type: r.name("type")}
	switch f.Type {
	case TypeReq:
		f.ID, f.Method, f.Params = r.name("id"), r.name("method"), r.fields["params"]
	case TypeRes:
		f.ID, f.Payload = r.name("id"), r.fields["payload"]
		r.outcome(&f)
	case TypeEvent:
		f.Event, f.Payload = r.name("event"), r.fields["payload"]
		if raw, ok := r.given("seq"); ok {
			f.Seq = new(int64)
			r.decode("seq", raw, f.Seq, "a whole number")
		}
	case "": // already a fault
	default:
		r.fault("type", "not_allowed", fmt.Sprintf("is %q, must be req, res or event", f.Type))
	}
	return f
}

// outcome reads ok and error: a refusal without its reason is no answer.
func (r *frameReader) outcome(f *Frame) {
	raw, ok := r.given("ok")
	if !ok {
		r.fault("ok", "required", "is missing and must be given")
		return
	}
	f.OK = new(bool)
	r.decode("ok", raw, f.OK, "true or false")
	raw, ok = r.given("error")
	switch {
	case *f.OK:
		return
	case !ok:
		r.fault("error", "required", "must be given where ok is false")
		return
	}
	f.Error = new(FrameError)
	if err := border.Decode(raw, border.DefaultLimits, nil, f.Error); err != nil {
		r.fault("error", "wrong_type", "must be an object with code and message: "+err.Error())
		return
	}
	if f.Error.Code == "" {
		r.fault("error.code", "required", "is missing and must be given")
	}
}

// given tells whether a field is there; null counts as absent.
func (r *frameReader) given(field string) (json.RawMessage, bool) {
	raw, ok := r.fields[field]
	return raw, ok && string(raw) != "null"
}

func (r *frameReader) name(field string) string {
	raw, ok := r.given(field)
	if !ok {
		r.fault(field, "required", "is missing and must be given")
		return ""
	}
	s := text(raw)
	if s == "" || len(s) > maxName {
		r.fault(field, "bad_name", fmt.Sprintf("must be a string of 1 to %d bytes", maxName))
		return ""
	}
	return s
}

func (r *frameReader) decode(field string, raw json.RawMessage, into any, want string) {
	if err := json.Unmarshal(raw, into); err != nil {
		r.fault(field, "wrong_type", "must be "+want)
	}
}

func (r *frameReader) fault(path, code, message string) {
	r.faults = append(r.faults, border.Fault{Path: path, Code: code, Message: message})
}

// members splits an object into its members without looking inside them. Where the text breaks off or repeats a key,
// it returns the faults and what it had read until then.
func members(data []byte) (map[string]json.RawMessage, border.Faults) {
	broken := func(format string, args ...any) border.Faults {
		return border.Faults{{Code: "bad_json", Message: fmt.Sprintf(format, args...)}}
	}
	if !utf8.Valid(data) {
		return nil, border.Faults{{Code: "bad_utf8", Message: "a byte is not UTF-8: encode the document as UTF-8"}}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, broken("must be one JSON object")
	}
	fields := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return fields, broken("byte %d: a field's name must come here", dec.InputOffset())
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fields, broken("byte %d, in the field %q: %v", dec.InputOffset(), name, err)
		}
		if len(fields) == maxMembers {
			return fields, border.Faults{{Code: "too_many", Message: fmt.Sprintf("has more than %d fields", maxMembers)}}
		}
		if _, again := fields[name]; again {
			delete(fields, name) // which of the two was meant cannot be known
			return fields, border.Faults{{Path: border.Field("", name), Code: "duplicate_key", Message: "is given twice: keep one"}}
		}
		fields[name] = raw
	}
	if _, err := dec.Token(); err != nil {
		return fields, broken("byte %d: the object does not end", dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fields, broken("byte %d: something follows the object: send one object a message", dec.InputOffset())
	}
	return fields, nil
}

// NewReq makes a request. params is anything that encoding/json can write; nil leaves them out.
func NewReq(id, method string, params any) (Frame, error) {
	raw, err := encode(params)
	return Frame{Type: TypeReq, ID: id, Method: method, Params: raw}, err
}

// NewRes makes the answer ok:true to a request.
func NewRes(id string, payload any) (Frame, error) {
	raw, err := encode(payload)
	return Frame{Type: TypeRes, ID: id, OK: new(true), Payload: raw}, err
}

// NewError makes the answer ok:false to a request.
func NewError(id string, e FrameError) Frame {
	return Frame{Type: TypeRes, ID: id, OK: new(false), Error: &e}
}

// NewEvent makes an event.
func NewEvent(event string, payload any) (Frame, error) {
	raw, err := encode(payload)
	return Frame{Type: TypeEvent, Event: event, Payload: raw}, err
}

func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write %T as JSON: %w", v, err)
	}
	return raw, nil
}
