package wire

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

var storedEvent = TaskEvent{Envelope: Envelope{EventID: "b1-4", BootID: "b1", Seq: 4}, EventName: TaskCompleted, TaskID: "t-1",
	Trace: Trace{OperationID: "p/s/1"}, Result: map[string]any{"areaId": "6"}}

const storedEventText = `{"eventId":"b1-4","bootId":"b1","seq":4,"status":"COMPLETED","taskId":"t-1","operationId":"p/s/1","result":{"areaId":"6"}}`

func TestParseSubmitAnswer(t *testing.T) {
	want := SubmitAnswer{Accepted: true, TaskID: "t-1", TaskState: "QUEUED", TaskMethod: "setMoveTo", StoreID: "s-1", PreStateRevision: "r-1"}
	for _, text := range []string{
		`{"accepted":true,"taskId":"t-1","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"s-1","pre_state_revision":"r-1"}`,
		`{"accepted":true,"task_id":"t-1","status":"QUEUED","task_method":"setMoveTo","storeId":"s-1","preStateRevision":"r-1","terminal_event":null}`,
		`{"accepted":true,"taskId":"t-1","task_state":"QUEUED","status":"RUNNING","taskMethod":"setMoveTo","store_id":"s-1","pre_state_revision":"r-1"}`,
	} {
		got, err := ParseSubmitAnswer(json.RawMessage(text))
		require.NoError(t, err, text)
		require.Empty(t, cmp.Diff(want, got), text)
	}
	got, err := ParseSubmitAnswer(json.RawMessage(`{"accepted":true,"taskId":"t-1","terminalEvent":` + storedEventText + `}`))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&storedEvent, got.TerminalEvent), "a stored event is read like any other, aliases and all")

	got, err = ParseSubmitAnswer(json.RawMessage(`{"accepted":false,"reasonCode":"LOW_BATTERY","requiresCloudDecision":true,"reasonParams":{"percent":4}}`))
	require.NoError(t, err)
	require.Equal(t, Reason{ReasonCode: "LOW_BATTERY", RequiresCloudDecision: new(true), ReasonParams: map[string]any{"percent": 4.0}}, got.Reason)
}

func TestParseStatusAnswer(t *testing.T) {
	got, err := ParseStatusAnswer(json.RawMessage(`{"found":true,"task_id":"t-1","status":"RUNNING","progress":0.5,"stage":"moving",
		"taskMethod":"setMoveTo","storeId":"s-1","bootId":"b1","asOfSeq":7,"cloudStepId":"move","operation_id":"p/s/1"}`))
	require.NoError(t, err)
	require.Equal(t, StatusAnswer{Found: true, TaskID: "t-1", Status: TaskRunning, Progress: 0.5, Stage: "moving", TaskMethod: "setMoveTo",
		StoreID: "s-1", BootID: "b1", AsOfSeq: 7, Trace: Trace{CloudStepID: "move", OperationID: "p/s/1"}}, got)
	got, err = ParseStatusAnswer(json.RawMessage(`{"found":false,"store_id":"s-1"}`))
	require.NoError(t, err)
	require.Equal(t, StatusAnswer{StoreID: "s-1"}, got)
	got, err = ParseStatusAnswer(json.RawMessage(`{"found":true,"status":"COMPLETED","terminal_event":` + storedEventText + `}`))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&storedEvent, got.TerminalEvent))
}

func TestParseCancelAnswer(t *testing.T) {
	got, err := ParseCancelAnswer(json.RawMessage(`{"accepted":false,"state":"COMPLETED","case":"already_completed","operationId":"p/s/1","terminal_event":` + storedEventText + `}`))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(CancelAnswer{State: "COMPLETED", Case: CaseAlreadyCompleted, OperationID: "p/s/1", TerminalEvent: &storedEvent}, got))
}

// What an answer gets wrong is named by its path, and nothing of it is used.
func TestAnswersRefuse(t *testing.T) {
	submit := func(raw json.RawMessage) (any, error) { return ParseSubmitAnswer(raw) }
	status := func(raw json.RawMessage) (any, error) { return ParseStatusAnswer(raw) }
	cancel := func(raw json.RawMessage) (any, error) { return ParseCancelAnswer(raw) }
	for _, test := range []struct {
		parse      func(json.RawMessage) (any, error)
		text, path string
	}{
		{submit, `[]`, ""},
		{submit, `{}`, "accepted"},
		{submit, `{"accepted":"true"}`, "accepted"},
		{submit, `{"accepted":true,"taskId":"a","task_id":"b"}`, "taskId"},
		{submit, `{"accepted":true,"terminal_event":"COMPLETED"}`, "terminal_event"},
		{submit, `{"accepted":true,"terminal_event":{"event_name":"DONE","event_id":"b-1","boot_id":"b","seq":1}}`, "terminal_event.event_name"},
		{submit, `{"accepted":true,"terminal_event":{"eventId":"b-1","event_id":"b-2","boot_id":"b","seq":1,"status":"FAILED"}}`, "terminal_event.event_id"},
		{status, `{"status":"RUNNING"}`, "found"},
		{status, `{"found":true}`, "status"},
		{status, `{"found":true,"status":"running"}`, "status"},
		{status, `{"found":true,"status":"RUNNING","progress":50}`, "progress"},
		{status, `{"found":true,"status":"RUNNING","as_of_seq":-1}`, "as_of_seq"},
		{cancel, `{"accepted":true}`, "case"},
		{cancel, `{"accepted":true,"case":"done"}`, "case"},
		{cancel, `{"accepted":true,"case":"cancelled","case":"refused"}`, "case"},
	} {
		_, err := test.parse(json.RawMessage(test.text))
		var faults border.Faults
		require.ErrorAs(t, err, &faults, test.text)
		require.Equal(t, test.path, faults[0].Path, "%s: %v", test.text, faults)
	}
}

func TestParseRequests(t *testing.T) {
	task, err := ParseTask(json.RawMessage(`{"task_method":"setMoveTo","params":{"position_name":"안방","none":null},"source":"cloud","completion_target":"movement.arrived",
		"timeout_ms":60000,"ttl_ms":5000,"expectedRevision":"r","operationId":"p/s/1","cloudPlanId":"p","planRevision":2,"traceparent":"00-a-b-01"}`))
	require.NoError(t, err)
	require.Equal(t, Task{TaskMethod: "setMoveTo", Params: map[string]any{"position_name": "안방", "none": nil}, Source: "cloud",
		CompletionTarget: "movement.arrived", TimeoutMs: 60000, TTLMs: 5000, ExpectedRevision: "r",
		Trace: Trace{OperationID: "p/s/1", CloudPlanID: "p", PlanRevision: 2, Traceparent: "00-a-b-01"}}, task)

	s, err := ParseStatusQuery(json.RawMessage(`{"task_id":"t"}`))
	require.NoError(t, err)
	require.Equal(t, StatusQuery{TaskID: "t"}, s)
	c, err := ParseCancelQuery(json.RawMessage(`{"operationId":"p/s/1","reason":"사용자"}`))
	require.NoError(t, err)
	require.Equal(t, CancelQuery{OperationID: "p/s/1", Reason: "사용자"}, c)
	say, err := ParseSay(json.RawMessage(`{"text":"다 했어요","locale":"ko-KR"}`))
	require.NoError(t, err)
	require.Equal(t, Say{Text: "다 했어요", Locale: "ko-KR"}, say)
	ask, err := ParseAsk(json.RawMessage(`{"questionId":"q","text":"할까요?","choices":["예","아니요"],"expiresAt":7}`))
	require.NoError(t, err)
	require.Equal(t, Ask{QuestionID: "q", Text: "할까요?", Choices: []string{"예", "아니요"}, ExpiresAt: 7}, ask)
}

func TestRequestsRefuse(t *testing.T) {
	for text, parse := range map[string]func(json.RawMessage) error{
		`{"params":{}}`:                          func(r json.RawMessage) error { _, err := ParseTask(r); return err },
		`{"taskMethod":"m","timeoutMs":-1}`:      func(r json.RawMessage) error { _, err := ParseTask(r); return err },
		`{"taskMethod":"m","params":[]}`:         func(r json.RawMessage) error { _, err := ParseTask(r); return err },
		`{}`:                                     func(r json.RawMessage) error { _, err := ParseStatusQuery(r); return err },
		`{"taskId":""}`:                          func(r json.RawMessage) error { _, err := ParseStatusQuery(r); return err },
		`{"reason":"x"}`:                         func(r json.RawMessage) error { _, err := ParseCancelQuery(r); return err },
		`{"text":""}`:                            func(r json.RawMessage) error { _, err := ParseSay(r); return err },
		`{"question_id":"q","text":"t"}`:         func(r json.RawMessage) error { _, err := ParseAsk(r); return err },
		`{"question_id":"q","choices":["","a"]}`: func(r json.RawMessage) error { _, err := ParseAsk(r); return err },
	} {
		var faults border.Faults
		require.ErrorAs(t, parse(json.RawMessage(text)), &faults, text)
	}
}

func TestParseAnswerEvent(t *testing.T) {
	a, err := ParseAnswerEvent(json.RawMessage(`{"eventId":"b-1","bootId":"b","seq":1,"questionId":"q","choice":"예","cloudWorkflowId":"p"}`))
	require.NoError(t, err)
	require.Equal(t, AnswerEvent{Envelope: Envelope{EventID: "b-1", BootID: "b", Seq: 1}, QuestionID: "q", Choice: "예", CloudWorkflowID: "p"}, a)
	_, err = ParseAnswerEvent(json.RawMessage(`{"event_id":"b-1","boot_id":"b","seq":1,"choice":"예"}`))
	var refused *RefusedEvent
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "b-1", refused.EventID, "it can be acknowledged as refused")
}

func FuzzParseAnswers(f *testing.F) {
	f.Add([]byte(`{"accepted":true,"found":true,"status":"COMPLETED","case":"cancelled","taskId":"t","terminal_event":` + storedEventText + `}`))
	f.Add([]byte(`{"question_id":"q","text":"t","choices":["a"],"taskMethod":"m","operation_id":"o"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, submit := ParseSubmitAnswer(raw)
		_, status := ParseStatusAnswer(raw)
		_, cancel := ParseCancelAnswer(raw)
		_, task := ParseTask(raw)
		_, ask := ParseAsk(raw)
		_, context := ParseDeviceContext(raw)
		for _, err := range []error{submit, status, cancel, task, ask, context} {
			var faults border.Faults
			if err != nil && (!errors.As(err, &faults) || len(faults) == 0) {
				t.Fatalf("a failure must be faults, is %#v", err)
			}
		}
	})
}
