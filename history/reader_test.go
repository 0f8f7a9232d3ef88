package history

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}

// TestSessionsOfOthers reads what real versions of pi and claude have written.
func TestSessionsOfOthers(t *testing.T) {
	for path, want := range map[string]string{
		"../testdata/pi-sessions/pi-sess.jsonl":     "testdata/pi-0.87.1.golden",
		"../testdata/pi-sessions/pi-sess2.jsonl":    "testdata/pi-0.87.1-named.golden",
		"../testdata/pi-sessions/pi-spending.jsonl": "testdata/pi-0.87.1-spending.golden",
		"../testdata/pi-sessions/pi-old-sess.jsonl": "testdata/pi-0.73.1.golden",
		"testdata/claude-2.1.329.jsonl":             "testdata/claude-2.1.329.golden",
		"testdata/many-kinds.jsonl":                 "testdata/many-kinds.golden",
		"testdata/pi-version-1.jsonl":               "testdata/pi-version-1.golden",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			seen, skipped := replay(t, path)
			if skipped > 0 {
				t.Errorf("%d lines skipped", skipped)
			}
			golden(t, want, seen.String())
		})
	}
}

func TestLinesThatCantBeRead(t *testing.T) {
	tests := []struct {
		name    string
		content string
		inputs  int
		skipped int
	}{
		{"CRLF", head + "\r\n" + asks + "\r\n", 1, 0},
		{"a byte order mark", "\uFEFF" + head + "\n" + asks + "\n", 1, 0},
		{"blank lines", "\n" + head + "\n\n \r\n" + asks + "\n\n", 1, 0},
		{"no newline at the end", head + "\n" + asks, 1, 0},
		{"a torn last line", head + "\n" + asks + "\n" + calls[:80], 1, 1},
		{"garbage between", head + "\nwhat?\n" + asks + "\n[1]\n\"x\"\n" + `{"type":"message","message":{bad}}` + "\n", 1, 4},
		{"garbage before", "what?\n" + head + "\n" + asks + "\n", 1, 1},
		{"a message that is none", head + "\n" + `{"type":"message","message":"x"}` + "\n" + `{"type":"message"}` + "\n" + asks + "\n", 1, 2},
		{"content of null", head + "\n" + `{"type":"message","message":{"role":"user","content":null}}` + "\n" + asks, 1, 0},
		{"payloads of other types", head + "\n" + `{"type":"custom","customType":"assistant.event","data":{"chatEventType":"tool_call","payload":[1]}}` + "\n" +
			`{"type":"custom","customType":"assistant.event","data":7}` + "\n" + asks, 1, 2},
		{"deep nesting", head + "\n" + strings.Repeat(`{"a":`, 100_000) + "\n" + asks, 1, 1},
		{"a line of 17 MiB", head + "\n" + `{"type":"message","x":"` + strings.Repeat("x", maxLine+1<<20) + "\"}\n" + asks + "\n", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := sessionFile(t, tt.content)
			seen, skipped := replay(t, path)
			if len(seen.records) != tt.inputs || skipped != tt.skipped {
				t.Errorf("%d inputs, %d lines skipped, want %d and %d\n%s", len(seen.records), skipped, tt.inputs, tt.skipped, seen)
			}
			if read(t, path) != tt.content {
				t.Error("reading changed the file")
			}
		})
	}
}

func TestFilesThatAreNoSessions(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "prose": "# Notes\n\nThis is no session.\n", "another object": "{\"name\":\"package\"}\n", "an entry": asks + "\n",
		"numbers": "1\n2\n", "one long line": strings.Repeat("x", maxLine+10),
	} {
		r, err := NewReader(sessionFile(t, content))
		if err != nil {
			t.Fatal(err)
		}
		for r.Next(&log{}) {
		}
		if bad := (*FormatError)(nil); !errors.As(r.Err(), &bad) {
			t.Errorf("%s: %v", name, r.Err())
		}
		r.Close()
	}
	if _, err := NewReader(t.TempDir()); err == nil || !strings.Contains(err.Error(), "a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := NewReader(os.DevNull); err == nil {
		t.Error("a device was opened")
	}
}

func TestCosts(t *testing.T) {
	for in, want := range map[string]stream.Cost{
		`{"total":0.25,"input":0.2}`: stream.USD(0.25), `{"total":0}`: stream.USD(0), `{"total":0,"unknown":true}`: {},
		`{"total":null}`: {}, `{"total":-1}`: {}, `{"total":"1"}`: {}, `{}`: {}, `null`: {},
		`0.25`: stream.USD(0.25), `-0.25`: {}, `"0.25"`: {}, // the sum alone
	} {
		if got := readCost(jsoncursor.New([]byte(in))); got != want {
			t.Errorf("%s read as %+v, want %+v", in, got, want)
		}
	}
}

func TestCommandsOfTheUserFailByTheirExitCode(t *testing.T) {
	for code, want := range map[string]bool{`0`: false, `1`: true, `-1`: true, `null`: false} {
		m := readMessage(jsoncursor.New([]byte(`{"role":"bashExecution","exitCode":` + code + `}`)))
		if m.failed != want {
			t.Errorf("exit code %s: failed %t", code, m.failed)
		}
	}
}

// Entries of other writers: an interruption ends a call, and what calls the agent back is hidden.
func TestOthersEvents(t *testing.T) {
	event := func(data string) string {
		return `{"type":"custom","id":"ffffffff","parentId":null,"timestamp":"2026-11-20T11:25:50.304Z","customType":"assistant.event","data":` + data + "}\n"
	}
	hidden := `{"type":"custom_message","id":"gggggggg","parentId":null,"timestamp":"2026-11-20T11:25:50.304Z","customType":"assistant.input","content":"the answer","display":false,"details":{"kind":"callback","fromAgentId":"reviewer"}}` + "\n"
	interrupted := event(`{"chatEventType":"interrupt","payload":{"reason":"user"}}`) + event(`{"chatEventType":"tool_result","payload":{"toolCallId":"t1","result":"interrupted","isError":true}}`)
	seen, skipped := replay(t, sessionFile(t, head+"\n"+asks+"\n"+calls+"\n"+interrupted+hidden))
	if got := viewOf(seen).Results["t1"]; !strings.HasPrefix(got, "interrupted") || skipped > 0 {
		t.Errorf("the tool's result is %q", got)
	}
	input, ok := seen.records[len(seen.records)-1].(Input)
	if !ok || input.Kind != InputCallback || input.FromAgentID != "reviewer" {
		t.Errorf("the callback's input came as %+v", seen.records)
	}
}

// An agent that tells another one something unasked is named as its author.
func TestACallbackThatNobodyAskedFor(t *testing.T) {
	line := `{"type":"custom","id":"ffffffff","parentId":null,"timestamp":"2026-11-20T11:25:50.304Z","customType":"assistant.event",` +
		`"data":{"chatEventType":"agent_callback","payload":{"messageId":"msg-9","fromAgentId":"reviewer","fromSessionId":"s","result":"Mind the tests"}}}` + "\n"
	seen, _ := replay(t, sessionFile(t, head+"\n"+line))
	want := Input{Kind: InputAgent, Text: "Mind the tests", ID: "msg-9", FromAgentID: "reviewer", FromSessionID: "s"}
	if len(seen.records) != 1 || seen.records[0] != want {
		t.Errorf("got %+v, want %+v", seen.records, want)
	}
	nobody := strings.Replace(line, `"fromAgentId":"reviewer",`, "", 1)
	if seen, _ := replay(t, sessionFile(t, head+"\n"+nobody)); len(seen.records) != 1 || seen.records[0] != (Note{Label: "agent_callback", Text: "Mind the tests"}) {
		t.Errorf("of nobody: %+v", seen.records)
	}
}
