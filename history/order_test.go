package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Lines of a session, for tests to break.
const (
	head      = `{"type":"session","version":3,"id":"01a1f8b4-a2fa-7251-bf0a-9f0e15930f12","timestamp":"2026-11-20T11:25:50.210Z","cwd":"/w"}`
	asks      = `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-20T11:25:50.300Z","message":{"role":"user","content":[{"type":"text","text":"Hello"}],"timestamp":1}}`
	calls     = `{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-11-20T11:25:50.301Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"ls"}}],"stopReason":"toolUse","timestamp":2}}`
	gets      = `{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-11-20T11:25:50.302Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false,"timestamp":3}}`
	says      = `{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-11-20T11:25:50.303Z","message":{"role":"assistant","content":[{"type":"text","text":"One file."}],"stopReason":"stop","timestamp":4}}`
	extension = `{"type":"custom","id":"eeeeeeee","parentId":"dddddddd","timestamp":"2026-11-20T11:25:50.304Z","customType":"theirs","data":{"n":1}}`
)

// faults are what pi or a model's provider would stumble over in a session: lines that are no entries, ids that are there
// twice, entries that don't follow the one before, and calls and results that don't belong together.
func faults(t testing.TB, path string) (found []string) {
	t.Helper()
	last, ids, open := "", map[string]bool{}, map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n") {
		fault := func(what string) { found = append(found, fmt.Sprintf("line %d: %s", i+1, what)) }
		var e struct {
			Type, ID, ParentID string
			Message            struct {
				Role, ToolCallID string
				Content          []struct{ Type, ID string }
			}
			Data struct {
				ChatEventType string
				Payload       struct {
					ToolCallID string
					Orphan     bool
				}
			}
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.ID == "" {
			fault("it is no entry")
			continue
		}
		if (e.Type == "session") != (i == 0) {
			fault("the header is elsewhere")
		}
		if i == 0 {
			continue
		}
		if ids[e.ID] || e.ParentID != last {
			fault("its id is another's, or it doesn't follow the entry before")
		}
		ids[e.ID], last = true, e.ID
		goesOn := e.Type == "custom_message" || e.Type == "message" && e.Message.Role != "toolResult"
		switch {
		case goesOn && len(open) > 0:
			fault("calls before it have no result")
			clear(open)
		case goesOn:
			for _, part := range e.Message.Content {
				if part.Type == "toolCall" {
					open[part.ID] = true
				}
			}
		case e.Type == "message" && !open[e.Message.ToolCallID]:
			fault("its call is missing")
		case e.Type == "message":
			delete(open, e.Message.ToolCallID)
		case e.Data.ChatEventType == eventToolResult && !e.Data.Payload.Orphan:
			delete(open, e.Data.Payload.ToolCallID)
		}
	}
	if len(open) > 0 {
		found = append(found, fmt.Sprint("the last calls have no result: ", open))
	}
	return found
}

func TestFaultsAreSeen(t *testing.T) {
	without := func(line, old, text string) string { return strings.Replace(line, old, text, 1) }
	for name, lines := range map[string][]string{
		"a result without its call":         {head, asks, without(gets, "bbbbbbbb", "aaaaaaaa")},
		"a call without its result":         {head, asks, calls, without(says, "cccccccc", "bbbbbbbb")},
		"a call at the end":                 {head, asks, calls},
		"a torn line":                       {head, asks, calls[:60]},
		"an id that is there twice":         {head, asks, without(asks, "null", `"aaaaaaaa"`)},
		"a parent that isn't the one above": {head, asks, says},
		"no header":                         {asks},
		"two headers":                       {head, head},
	} {
		if found := faults(t, sessionFile(t, strings.Join(lines, "\n")+"\n")); len(found) != 1 {
			t.Errorf("%s: %q", name, found)
		}
	}
	if found := faults(t, sessionFile(t, strings.Join([]string{head, asks, calls, gets, says, extension}, "\n")+"\n")); found != nil {
		t.Errorf("in order: %q", found)
	}
}

func sessionFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "2026-11-20T11-25-50-210Z_01a1f8b4.jsonl")
	must.OK(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	data := must.Read(t, path)
	return string(data)
}
