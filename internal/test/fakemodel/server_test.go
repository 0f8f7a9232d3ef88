package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

const (
	mainBody   = `{"model":"m","stream":true,"tools":[{"name":"bash"}],"messages":[{"role":"user","content":[{"type":"text","text":"go ALPHA"}]}]}`
	helperBody = `{"model":"small","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`
)

func startJSON(t *testing.T, script string) *Server {
	t.Helper()
	s, err := Parse([]byte(script))
	must.OK(t, err)
	return New(t, s)
}

func post(t *testing.T, url, body string) (status int, answer string, err error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// ask posts a Messages request that must be answered in full.
func ask(t *testing.T, s *Server, body string) (status int, answer string) {
	t.Helper()
	status, answer, err := post(t, s.URL+"/v1/messages", body)
	must.OK(t, err)
	return status, answer
}

// said joins the text deltas of an Anthropic stream.
func said(t *testing.T, sse string) string {
	t.Helper()
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(sse))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct{ Delta struct{ Text string } }
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		out.WriteString(e.Delta.Text)
	}
	return out.String()
}

func TestTurnsAnswerInOrder(t *testing.T) {
	s := startJSON(t, `{"turns":[
		{"match":"BETA","text":"for beta"},
		{"status":529,"message":"busy"},
		{"text":"état 🎉 done","steps":[{"tool":{"name":"bash","args":{"command": "ls"}}}]}],
		"default":{"text":"over"},"chunk":[1,2]}`)
	if status, body := ask(t, s, helperBody); status != 200 || !strings.Contains(body, "Fake title") {
		t.Errorf("helper: %d %s", status, body)
	}
	if status, body := ask(t, s, mainBody); status != 529 || !strings.Contains(body, "overloaded_error") {
		t.Errorf("fault: %d %s", status, body)
	}
	_, body, err := post(t, s.URL+"/v1/messages?beta=true", mainBody)
	must.OK(t, err)
	if got := said(t, body); got != "état 🎉 done" {
		t.Errorf("said %q", got)
	}
	for _, want := range []string{`"stop_reason":"tool_use"`, `"type":"input_json_delta"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	for _, tt := range []struct{ body, want string }{
		{strings.Replace(mainBody, "ALPHA", "BETA", 1), "for beta"},
		{mainBody, "over"},
	} {
		if _, answer := ask(t, s, tt.body); said(t, answer) != tt.want {
			t.Errorf("got %s, want %q", answer, tt.want)
		}
	}
	if got := len(s.MainRequests()); got != 4 {
		t.Errorf("%d main requests, want 4", got)
	}
	if r := s.Requests()[1]; r.Turn != 1 || r.Outcome != "http 529" || r.LastUser != "go ALPHA" || !slices.Equal(r.Tools, []string{"bash"}) || string(r.Body) != mainBody {
		t.Errorf("request log has %+v", r)
	}
}

func TestRepeat(t *testing.T) {
	s := startJSON(t, `{"turns":[{"repeat":2,"text":"a"},{"repeat":-1,"text":"b"}]}`)
	var got string
	for range 5 {
		_, body := ask(t, s, mainBody)
		got += said(t, body)
	}
	if got != "aabbb" {
		t.Errorf("got %q", got)
	}
}

func TestConditions(t *testing.T) {
	const body = `{"model":"big-model","stream":true,"tools":[{"name":"bash"}],"messages":[
		{"role":"user","content":"first"},
		{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"exit 3"}]}]},
		{"role":"system","content":"steered"}]}`
	tests := []struct {
		condition string
		fits      bool
	}{
		{`"match":"exit 3"`, true},
		{`"match":"steered"`, true},
		{`"match":"first"`, false}, // not the last message
		{`"for":"helper"`, false},
		{`"for":"any"`, true},
	}
	for _, tt := range tests {
		s := startJSON(t, `{"turns":[{"text":"fits",`+tt.condition+`}],"default":{"text":"no"}}`)
		_, answer := ask(t, s, body)
		if got := said(t, answer) == "fits"; got != tt.fits {
			t.Errorf("%s: fits is %v", tt.condition, got)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name, script   string
		answer         string // what the answer holds
		broken         bool   // the client sees an error
		outcome        string
		contentMissing string
	}{
		{"reset in mid-stream", `{"turns":[{"steps":[{"text":"half"},{"drop":true}]}]}`, "", true, "dropped", ""},
		{"reset before the answer", `{"turns":[{"drop":true}]}`, "", true, "dropped", ""},
		{"error event", `{"turns":[{"steps":[{"sse_error":{"type":"overloaded_error"}}]}]}`, `"message":"Overloaded"`, false, "error in the stream", "message_stop"},
		{"raw bytes", `{"turns":[{"steps":[{"raw":"data: {oops\n\n"}]}]}`, "data: {oops\n\n", false, "ok", ""},
		{"status", `{"turns":[{"status":403,"message":"no"}]}`, "permission_error", false, "http 403", ""},
		{"thinking", `{"turns":[{"steps":[{"thinking":"hm"}]}]}`, `"signature_delta"`, false, "ok", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startJSON(t, tt.script)
			_, body, err := post(t, s.URL+"/v1/messages", mainBody)
			if (err != nil) != tt.broken {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(body, tt.answer) || tt.contentMissing != "" && strings.Contains(body, tt.contentMissing) {
				t.Errorf("answer %q", body)
			}
			if got := waitOver(t, s).Outcome; got != tt.outcome {
				t.Errorf("outcome %q, want %q", got, tt.outcome)
			}
		})
	}
}

// waitOver waits until the server has finished its first request: a client
// may see the end of an answer before the server has noted it.
func waitOver(t *testing.T, s *Server) Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	over := func(rs []Request) bool { return len(rs) > 0 && rs[0].Outcome != "" }
	must.OK(t, s.Wait(ctx, over))
	return s.Requests()[0]
}

func TestClientGoesAwayInMidStream(t *testing.T) {
	s := startJSON(t, `{"turns":[{"steps":[{"text":"half"},{"sleep_ms":60000}]}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/messages", strings.NewReader(mainBody))
	must.OK(t, err)
	resp, err := http.DefaultClient.Do(req)
	must.OK(t, err)
	defer resp.Body.Close()
	if r := s.Requests()[0]; r.Outcome != "" {
		t.Errorf("a running request has the outcome %q", r.Outcome)
	}
	cancel()
	if got := waitOver(t, s).Outcome; got != outcomeClientGone {
		t.Errorf("outcome %q", got)
	}
}

func TestWaitGivesUp(t *testing.T) {
	s := New(t, Script{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, func([]Request) bool { return false }); err == nil {
		t.Error("no error")
	}
}

func TestNotStreamed(t *testing.T) {
	s := startJSON(t, `{"turns":[{"for":"any","text":"plain","steps":[{"tool":{"id":"c1","name":"ls"}}]}]}`)
	_, body := ask(t, s, helperBody)
	if !strings.Contains(body, `"text":"plain"`) || !strings.Contains(body, `"id":"c1"`) {
		t.Error(body)
	}
}

func TestOtherEndpoints(t *testing.T) {
	s := New(t, Script{})
	tests := []struct {
		method, path string
		status       int
		answer       string
	}{
		{"GET", "/v1/models", 200, "fake-model"},
		{"POST", "/v1/messages/count_tokens", 200, "input_tokens"},
		{"HEAD", "/api/hello", 200, ""},
		{"GET", "/api/settings", 404, "no such endpoint"},
	}
	for _, tt := range tests {
		req, err := http.NewRequest(tt.method, s.URL+tt.path, strings.NewReader("{}"))
		must.OK(t, err)
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.answer) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, resp.StatusCode, body)
		}
	}
	if got := s.MainRequests(); len(got) != 0 {
		t.Errorf("main requests: %+v", got)
	}
}
