package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"errand/deviceio/wire"
)

// maxVendorAnswer bounds what a vendor answers, in bytes: a planning context is the largest.
const maxVendorAnswer = 1 << 20

// HTTPVendor is a TaskManager behind a small HTTP server on loopback: POST <base>/<method> with a JSON object, answered with a
// JSON object. docs/shim.md has the shapes.
type HTTPVendor struct {
	base  string
	token string
	http  *http.Client
}

var _ Vendor = (*HTTPVendor)(nil)

// NewHTTPVendor reaches the TaskManager at base, such as http://127.0.0.1:7431, showing it the token.
//
// Each call has a connection of its own, and nothing is followed or repeated: whether a submit was sent is always known.
func NewHTTPVendor(base, token string) *HTTPVendor {
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	return &HTTPVendor{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// SubmitTask posts submitTask. Nothing is done that a status of 401, 403, 404, 405 or 503 answers.
func (v *HTTPVendor) SubmitTask(ctx context.Context, t wire.Task) (wire.SubmitAnswer, error) {
	status, body, err := v.post(ctx, "submitTask", t)
	if err != nil {
		return wire.SubmitAnswer{}, err
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusServiceUnavailable:
		return wire.SubmitAnswer{}, fmt.Errorf("submitTask: status %d: %s: %w", status, clip(body), ErrNotDelivered)
	}
	answer, err := wire.ParseSubmitAnswer(body)
	if err == nil && status != http.StatusOK && answer.Accepted {
		err = errors.New("it says accepted, and its status says no")
	}
	if err != nil {
		return wire.SubmitAnswer{}, fmt.Errorf("submitTask: status %d: %w: %s", status, err, clip(body))
	}
	return answer, nil
}

// GetTaskStatus posts getTaskStatus. Status 404 and found=false are a clear not found.
func (v *HTTPVendor) GetTaskStatus(ctx context.Context, taskID string) (VendorStatus, error) {
	status, body, err := v.post(ctx, "getTaskStatus", wire.StatusQuery{TaskID: taskID})
	switch {
	case err != nil:
		return VendorStatus{}, err
	case status == http.StatusNotFound:
		return VendorStatus{}, nil
	case status != http.StatusOK:
		return VendorStatus{}, fmt.Errorf("getTaskStatus: status %d: %s", status, clip(body))
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return VendorStatus{}, fmt.Errorf("getTaskStatus: %w: %s", err, clip(body))
	}
	if _, said := fields["found"]; !said { // 200 with a status is found
		fields["found"] = json.RawMessage("true")
	}
	var answer VendorStatus
	if raw, ok := fields["result"]; ok {
		if err := json.Unmarshal(raw, &answer.Result); err != nil {
			return VendorStatus{}, fmt.Errorf("getTaskStatus: result: %w", err)
		}
	}
	text, err := json.Marshal(fields)
	if err == nil {
		answer.StatusAnswer, err = wire.ParseStatusAnswer(text)
	}
	if err != nil {
		return VendorStatus{}, fmt.Errorf("getTaskStatus: %w: %s", err, clip(body))
	}
	return answer, nil
}

// CancelTask posts cancelTask. Status 404 says that there is no such task.
func (v *HTTPVendor) CancelTask(ctx context.Context, taskID, reason string) (VendorCancel, error) {
	status, body, err := v.post(ctx, "cancelTask", wire.CancelQuery{TaskID: taskID, Reason: reason})
	switch {
	case err != nil:
		return VendorCancel{}, err
	case status == http.StatusNotFound:
		return VendorCancel{NotFound: true}, nil
	}
	var said struct {
		Accepted *bool  `json:"accepted"`
		State    string `json:"state"`
		Status   string `json:"status"`
		wire.Reason
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Accepted == nil {
		return VendorCancel{}, fmt.Errorf("cancelTask: status %d, and no answer with accepted (%w): %s", status, err, clip(body))
	}
	return VendorCancel{Accepted: *said.Accepted, State: orString(said.State, said.Status), Reason: said.Reason}, nil
}

// GetDevicePlanningContext posts getDevicePlanningContext.
func (v *HTTPVendor) GetDevicePlanningContext(ctx context.Context) (json.RawMessage, error) {
	status, body, err := v.post(ctx, "getDevicePlanningContext", struct{}{})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("getDevicePlanningContext: status %d: %s", status, clip(body))
	}
	return body, err
}

// post makes one call. A connection that did not come about is ErrNotDelivered.
func (v *HTTPVendor) post(ctx context.Context, method string, params any) (status int, body []byte, err error) {
	text, err := json.Marshal(params)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w: %w", method, err, ErrNotDelivered)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+"/"+method, bytes.NewReader(text))
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w: %w", method, err, ErrNotDelivered)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+v.token)
	res, err := v.http.Do(req)
	if dialing := (*net.OpError)(nil); errors.As(err, &dialing) && dialing.Op == "dial" {
		return 0, nil, fmt.Errorf("%s: %w: %w", method, err, ErrNotDelivered)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", method, err)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxVendorAnswer+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, fmt.Errorf("%s: read the answer: %w", method, err)
	}
	if len(body) > maxVendorAnswer {
		return 0, nil, fmt.Errorf("%s: the answer has more than %d bytes", method, maxVendorAnswer)
	}
	return res.StatusCode, body, nil
}

// clip bounds a text that goes into an error.
func clip(body []byte) string {
	const most = 300
	if len(body) > most {
		return strings.ToValidUTF8(string(body[:most]), "") + "…"
	}
	return string(body)
}
