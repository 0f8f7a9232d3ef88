//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// shown is what a client ends up with when it takes all updates of a loop.
type shown struct {
	Texts      map[string]string // by iteration and message
	Calls      []string
	Results    map[string]string
	Iterations []string
	End        string
}

// view puts updates together as a client does.
func view(t *testing.T, lines []string) shown {
	t.Helper()
	v := shown{Texts: map[string]string{}, Results: map[string]string{}}
	iteration := ""
	for _, line := range lines {
		var u struct {
			SessionUpdate, Phase, MessageID, ParentToolCallID, ToolCallID, Name, Title, Status, Outcome, StopReason, Promise string

			Content   json.RawMessage
			RawInput  json.RawMessage
			CostUSD   *float64
			Tokens    json.RawMessage
			Turns     int
			ToolCalls int
		}
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text := contentText(u.Content)
		switch u.SessionUpdate {
		case "agent_message_chunk":
			v.Texts[iteration+u.ParentToolCallID+u.MessageID] += text
		case "_ralph/discard":
			delete(v.Texts, iteration+u.ParentToolCallID+u.MessageID)
		case "tool_call":
			v.Calls = append(v.Calls, strings.Join([]string{iteration, u.ToolCallID, u.Name, u.Title, string(u.RawInput)}, " "))
		case "tool_call_update":
			if u.Status != "in_progress" {
				v.Results[iteration+u.ToolCallID] = u.Status + " " + text
			}
		case "_ralph/iteration":
			facts, err := json.Marshal([]any{u.Phase, u.Outcome, u.CostUSD, u.Tokens, u.Turns, u.ToolCalls})
			must.OK(t, err)
			v.Iterations = append(v.Iterations, string(facts))
			iteration = "#" + string(rune('0'+len(v.Iterations))) + " "
		case "_ralph/end":
			v.End = u.StopReason + " " + u.Promise
		case "user_message_chunk":
			if u.MessageID != "prompt" || text != prompt { // with that a story begins
				t.Errorf("the loop's own input shows as a user's: %s", line)
			}
		}
	}
	return v
}

// contentText returns the text of an update's content: a block, or a list of
// blocks in blocks.
func contentText(raw json.RawMessage) string {
	var block struct{ Text string }
	if json.Unmarshal(raw, &block) == nil {
		return block.Text
	}
	var blocks []struct{ Content struct{ Text string } }
	var text string
	if json.Unmarshal(raw, &blocks) == nil {
		for _, b := range blocks {
			text += b.Content.Text
		}
	}
	return text
}

// keptLoop runs a loop of two iterations with tools and guidance in its file.
func keptLoop(t *testing.T, a agent, more ...fakemodel.Turn) *program {
	t.Helper()
	turns := []fakemodel.Turn{
		does(fakemodel.Say("First the file."), a.write("one.txt", "1\n")), does(a.bash("ls no-such-file; cat one.txt")), says("More to do."),
		does(a.bash("echo two")), says("All is done. <promise>DONE</promise>"),
	}
	p := prepare(t, a, fakemodel.Script{Turns: append(turns, more...), Chunk: []int{4, 20}})
	args := []string{"--max-iterations", "5", "--completion-promise", "DONE"}
	if a.name == pi073.name {
		args = append(args, "--live")
	}
	for _, allow := range a.anyTool {
		args = append(args, "--backend-arg", allow)
	}
	p.start(append(args, prompt)...)
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	return p
}

// session is the session file of the program's loop.
func (p *program) session() string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.box.Home, ".pi", "agent", "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		p.fatalf("session files: %q %v", files, err)
	}
	return files[0]
}

// transcript reads a session back with "history show".
func (p *program) transcript(file string) []string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := p.box.Command(ctx, ralph, "history", "show", "--output", "json", file).Output()
	if err != nil {
		p.fatalf("history show: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// A loop that is read back is the one that was seen. Each version of the real pi goes on with it: it sends the
// conversation to the model and appends to the file.
func TestReloadShowsWhatWasLive(t *testing.T) {
	for _, a := range []agent{pi, pi073, claude} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p := keptLoop(t, a, fakemodel.Turn{Match: "And now?", Text: "Nothing is left.", For: "any", Repeat: 2})
			var live []string
			for _, u := range p.all() {
				live = append(live, u.line)
			}
			file := p.session()
			was, is := view(t, live), view(t, p.transcript(file))
			if !reflect.DeepEqual(was, is) {
				t.Errorf("live\n%+v\nreload\n%+v", was, is)
			}
			if len(was.Calls) < 3 || len(was.Results) < 3 || was.End != "promise DONE" {
				t.Errorf("the loop was another: %+v", was)
			}
			if a.name == pi073.name {
				if !p.has(func(u update) bool { return strings.Contains(u.Message, "can't be told anything while it works") }) {
					p.fatalf("nobody is told that pi before agent_settled isn't talked to")
				}
				return // the decoder is pi's, and so is what it writes
			}
			kept := must.Read(t, file)
			for _, opens := range []agents.Pin{agents.Pi, agents.Pi073} {
				if a.name == claude.name && opens == agents.Pi073 {
					continue // it has opened what pi's loop has left
				}
				must.OK(t, os.WriteFile(file, kept, 0o600))
				p.openWithPi(opens, file, "And now?")
				requests := p.model.MainRequests()
				checkConversation(t, requests[len(requests)-1].Body)
				for _, want := range []string{"All is done.", `"_ralph/end"`, "user_message_chunk"} {
					if shows := strings.Join(p.transcript(file), "\n"); !strings.Contains(shows, want) {
						t.Errorf("after %s the transcript has no %q", opens, want)
					}
				}
				if data, err := os.ReadFile(file); err != nil || !bytes.Contains(data, []byte("Nothing is left.")) {
					t.Errorf("%s went on elsewhere: %v", opens, err)
				}
			}
		})
	}
}

// openWithPi lets a version of pi continue a session.
func (p *program) openWithPi(version agents.Pin, file, prompt string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	box := agents.NewSandbox(p.t, installed, p.model.URL, version)
	cmd := box.Command(ctx, "pi", append([]string{"-p", "--session", file}, agents.FakeModelArgs...)...)
	cmd.Dir = p.box.Dir
	cmd.Stdin = strings.NewReader(prompt)
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Nothing is left.")) {
		p.fatalf("pi says %s %v", out, err)
	}
}

// checkConversation looks at a request to the model: the loop's conversation,
// with the hidden prompt of each iteration and a result for each tool call, and
// nothing else.
func checkConversation(t *testing.T, body []byte) {
	t.Helper()
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	must.OK(t, json.Unmarshal(body, &request))
	type block struct {
		Type      string
		Text      string
		ID        string
		ToolUseID string `json:"tool_use_id"`
	}
	prompts, calls, results, text := 0, map[string]bool{}, map[string]bool{}, ""
	for _, m := range request.Messages {
		var blocks []block
		if json.Unmarshal(m.Content, &blocks) != nil {
			var only string
			must.OK(t, json.Unmarshal(m.Content, &only))
			blocks = []block{{Type: "text", Text: only}}
		}
		for _, b := range blocks {
			text += b.Text + "\n"
			if m.Role == "user" && strings.Contains(b.Text, prompt) {
				prompts++
			}
			switch b.Type {
			case "tool_use":
				calls[b.ID] = true
			case "tool_result":
				if results[b.ToolUseID] = true; !calls[b.ToolUseID] {
					t.Errorf("the result of %s has no call", b.ToolUseID)
				}
			}
		}
	}
	if prompts != 2 || len(calls) != 3 || !reflect.DeepEqual(calls, results) {
		t.Errorf("%d prompts, calls %v, results %v in %s", prompts, calls, results, body)
	}
	for _, want := range []string{"First the file.", "More to do.", "All is done. <promise>DONE</promise>", "And now?"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the conversation", want)
		}
	}
	if strings.Contains(text, "iteration_start") || strings.Contains(text, "loop_end") {
		t.Error("events of ours are in the conversation")
	}
}
