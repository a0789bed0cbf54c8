package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

func TestParseFrame(t *testing.T) {
	for text, want := range map[string]Frame{
		`{"type":"req","id":"1:a","method":"connect","params":{"a":[1]},"extra":1}`: {Type: TypeReq, ID: "1:a", Method: "connect", Params: json.RawMessage(`{"a":[1]}`)},
		`{"type":"req","id":"1","method":"m","ok":"not looked at"}`:                 {Type: TypeReq, ID: "1", Method: "m"},
		`{"type":"res","id":"1","ok":true,"payload":null,"error":null}`:             {Type: TypeRes, ID: "1", OK: new(true), Payload: json.RawMessage("null")},
		`{"type":"res","id":"1","ok":false,"error":{"code":"NOT_PAIRED","message":"m","details":{"code":"PAIRING_REQUIRED"},"retryable":true}}`: {
			Type: TypeRes, ID: "1", OK: new(false), Error: &FrameError{Code: CodeNotPaired, Message: "m", Retryable: true,
				Details: map[string]any{"code": DetailPairingRequired}}},
		` {"type":"event","event":"tick","payload":{"ts":1},"seq":7} `: {Type: TypeEvent, Event: "tick", Payload: json.RawMessage(`{"ts":1}`), Seq: new(int64(7))},
		`{"type":"event","event":"tick","seq":null}`:                   {Type: TypeEvent, Event: "tick"},
	} {
		got, err := ParseFrame([]byte(text))
		require.NoError(t, err, text)
		require.Empty(t, cmp.Diff(want, got), text)
	}
}

func TestParseFrameRefuses(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	for text, want := range map[string][]string{ // paths of the faults, in order
		``:                           {""},
		`[]`:                         {""},
		`"req"`:                      {""},
		`{`:                          {""},
		`{"type":"req"`:              {""},
		`{"type":"req","id":"1"} {}`: {""},
		"{\"type\":\"\xff\"}":        {""},
		`{}`:                         {"type"},
		`{"type":"REQ"}`:             {"type"},
		`{"type":7}`:                 {"type"},
		`{"type":"req"}`:             {"id", "method"},
		`{"type":"req","id":"","method":"` + long + `"}`:             {"id", "method"},
		`{"type":"req","id":1,"method":"m"}`:                         {"id"},
		`{"type":"req","id":"1","id":"2","method":"m"}`:              {"id"},
		`{"type":"req","method":"m","Type":"res","ID":"1"}`:          {"id"},
		`{"type":"res","id":"1"}`:                                    {"ok"},
		`{"type":"res","id":"1","ok":null}`:                          {"ok"},
		`{"type":"res","id":"1","ok":"true"}`:                        {"ok", "error"},
		`{"type":"res","id":"1","ok":false}`:                         {"error"},
		`{"type":"res","id":"1","ok":false,"error":"no"}`:            {"error"},
		`{"type":"res","id":"1","ok":false,"error":{"message":"m"}}`: {"error.code"},
		`{"type":"event"}`:                                           {"event"},
		`{"type":"event","event":"tick","seq":1.5}`:                  {"seq"},
	} {
		_, err := ParseFrame([]byte(text))
		var bad *BadFrame
		require.ErrorAs(t, err, &bad, text)
		var paths []string
		for _, f := range bad.Faults {
			paths = append(paths, f.Path)
		}
		require.Equal(t, want, paths, text)
		require.NotContains(t, err.Error(), "%!", text)
	}
}

// A frame has room for a million members, and each costs to take apart: reading stops at the limit.
func TestManyMembersAreNotTakenApart(t *testing.T) {
	var members strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&members, `"k%d":1,`, i)
	}
	_, err := ParseNodeEvent(json.RawMessage(`{` + members.String() + `"event":"tick"}`))
	var faults border.Faults
	require.ErrorAs(t, err, &faults)
	require.Equal(t, "too_many", faults[0].Code)
}

// A bad request that has an id is answered under it.
func TestBadFrameKeepsTheID(t *testing.T) {
	_, err := ParseFrame([]byte(`{"type":"req","id":"17","method":9}`))
	var bad *BadFrame
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "17", bad.ID)
	var faults border.Faults
	require.ErrorAs(t, err, &faults)
}

func TestFramesRoundTrip(t *testing.T) {
	req, err := NewReq("1", MethodNodeEvent, NodeEvent{Event: NodeTaskEvent, Payload: json.RawMessage(`{"a":1}`)})
	require.NoError(t, err)
	res, err := NewRes("1", EventAck{EventID: "b-1", Ack: AckLate})
	require.NoError(t, err)
	empty, err := NewRes("2", nil)
	require.NoError(t, err)
	event, err := NewEvent(EventTick, map[string]any{"ts": 1})
	require.NoError(t, err)
	refusal := NewError("3", FrameError{Code: CodeUnavailable, Message: "later", RetryAfterMs: 500})
	for _, f := range []Frame{req, res, empty, event, refusal} {
		text, err := json.Marshal(f)
		require.NoError(t, err)
		got, err := ParseFrame(text)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(f, got))
	}
	_, err = NewReq("1", "m", func() {})
	require.ErrorContains(t, err, "func()")
}

func TestErrorsSpeak(t *testing.T) {
	e := &FrameError{Code: CodeNotPaired, Message: "wait", Details: map[string]any{"code": DetailPairingRequired}}
	require.EqualError(t, e, "NOT_PAIRED (PAIRING_REQUIRED): wait")
	require.EqualError(t, &FrameError{Code: CodeForbidden, Message: "no"}, "FORBIDDEN: no")
	require.EqualError(t, &InvokeError{Code: InvokeTimeout, Message: "5 s"}, "TIMEOUT: 5 s")
}

func FuzzParseFrame(f *testing.F) {
	f.Add([]byte(`{"type":"req","id":"1","method":"connect","params":{}}`))
	f.Add([]byte(`{"type":"res","id":"1","ok":false,"error":{"code":"X","message":"m"}}`))
	f.Add([]byte(`{"type":"event","event":"tick","payload":{"ts":1},"seq":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		frame, err := ParseFrame(text)
		if err != nil {
			var bad *BadFrame
			if !errors.As(err, &bad) || len(bad.Faults) == 0 {
				t.Fatalf("a failure must be a BadFrame with faults, is %#v", err)
			}
			return
		}
		again, err := json.Marshal(frame)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseFrame(again); err != nil {
			t.Fatalf("%s\nreads, and written again does not: %v\n%s", text, err, again)
		}
	})
}
