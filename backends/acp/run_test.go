package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

const opened = `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"delete":{}}},"_meta":{"steering":{"supported":true}}}`

// ready is a conversation with an agent that works.
func ready(t *testing.T, offers string) *Run {
	t.Helper()
	r := New("/w", "", "do it", nil)
	for id, result := range []string{offers, `{"sessionId":"s"}`} {
		if next, failure := r.Answered(stream.Answered{ID: text(id), Result: json.RawMessage(result)}); next == nil || failure != "" {
			t.Fatal(failure)
		}
	}
	return r
}

// An agent is asked for one thing after the other, and for a mode only where one is wanted.
func TestTheOrderOfAConversation(t *testing.T) {
	for _, tt := range []struct{ name, mode, answers, want string }{
		{"without a mode", "", opened + ` {"sessionId":"s"}`, "initialize session/new session/prompt"},
		{"in a mode", "m", opened + ` {"sessionId":"s","modes":{"availableModes":[{"id":"n"},{"id":"m"}]}} {}`, "initialize session/new session/set_mode session/prompt"},
		{"in a mode that is an option", "m", opened + ` {"sessionId":"s","configOptions":[{"id":"x","category":"model","options":[{"value":"m"}]},{"id":"y","category":"mode","options":[{"value":"m"}]}]} {}`, "initialize session/new session/set_config_option session/prompt"},
	} {
		r := New("/w", tt.mode, "do it", map[string]any{"k": 1})
		next := r.Open()
		var said []string
		for answers := json.NewDecoder(strings.NewReader(tt.answers)); ; {
			var request struct {
				ID     any
				Method string
				Params map[string]any
			}
			must.OK(t, json.Unmarshal([]byte(text(next)), &request))
			said = append(said, request.Method)
			if request.Method == "session/set_config_option" && request.Params["configId"] != "y" {
				t.Errorf("%s: another option is set: %v", tt.name, request.Params)
			}
			if isNew := request.Method == "session/new"; isNew != (request.Params["_meta"] != nil) || isNew && request.Params["cwd"] != "/w" {
				t.Errorf("%s: %s has %v", tt.name, request.Method, request.Params)
			}
			var result json.RawMessage
			if answers.Decode(&result) != nil {
				break
			}
			var failure string
			if next, failure = r.Answered(stream.Answered{ID: strings.Trim(text(request.ID), `"`), Result: result}); failure != "" {
				t.Fatal(failure)
			}
		}
		if got := strings.Join(said, " "); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// What an agent doesn't say that it can isn't asked of it, nor before it works or after its end.
func TestWhatAnAgentCantBeAsked(t *testing.T) {
	before := New("/w", "", "do it", nil)
	if before.Steer("1", "x") != nil || before.Abort() != nil || before.Bye() != nil {
		t.Error("an agent that wasn't opened is spoken to")
	}
	plain := ready(t, `{"protocolVersion":1}`)
	if plain.Steer("1", "x") != nil || plain.Bye() != nil {
		t.Error("an agent is asked what it can't")
	}
	r := ready(t, opened)
	if got := text(r.Steer("1", "x")); !strings.Contains(got, `"method":"_session/steering"`) || !strings.Contains(got, `"text":"x"`) {
		t.Error(got)
	}
	if got := text(r.Abort()); !strings.Contains(got, `"session/cancel"`) || strings.Contains(got, `"id"`) {
		t.Error(got)
	}
	if r.Steer("2", "x") != nil {
		t.Error("an agent that is to end is told something")
	}
	if got := text(r.Bye()); !strings.Contains(got, `"session/delete"`) || r.Bye() != nil {
		t.Error("the session is deleted twice, or not at all")
	}
	if next, failure := r.Answered(stream.Answered{ID: "9"}); next != nil || failure != "" {
		t.Error("an answer to nothing is gone on with")
	}
}

// Nothing is allowed but for this once, and nothing after the end.
func TestAnswers(t *testing.T) {
	q := stream.Question{ID: `"a"`, Method: Permission, Yes: "y", No: "n"}
	for _, tt := range []struct {
		q      stream.Question
		yes    bool
		want   string
		isOver bool
	}{
		{q, true, `{"outcome":{"optionId":"y","outcome":"selected"}}`, false},
		{q, false, `{"outcome":{"optionId":"n","outcome":"selected"}}`, false},
		{q, true, `{"outcome":{"outcome":"cancelled"}}`, true},
		{stream.Question{ID: "1", Method: Permission, Yes: "y"}, false, `{"outcome":{"outcome":"cancelled"}}`, false},
		{stream.Question{ID: "1", Method: "fs/write_text_file"}, true, `"code":-32601`, false},
	} {
		r := ready(t, opened)
		if tt.isOver {
			r.Abort()
		}
		if got := text(r.Answer(tt.q, tt.yes)); !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":`+tt.q.ID) {
			t.Errorf("%+v, %v: %s", tt.q, tt.yes, got)
		}
	}
	for method, want := range map[string]string{Permission: "", "fs/read_text_file": "fs/read_text_file isn't known here"} {
		if why := Refuse(stream.Question{Method: method, Yes: "y"}); why != want {
			t.Errorf("%s: %q", method, why)
		}
	}
}
