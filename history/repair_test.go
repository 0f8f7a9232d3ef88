package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines of a healthy session, for tests to break.
const (
	head      = `{"type":"session","version":3,"id":"01a1f8b4-a2fa-7251-bf0a-9f0e15930f12","timestamp":"2026-11-20T11:25:50.210Z","cwd":"/w"}`
	asks      = `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-20T11:25:50.300Z","message":{"role":"user","content":[{"type":"text","text":"Hello"}],"timestamp":1}}`
	calls     = `{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-11-20T11:25:50.301Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"ls"}}],"stopReason":"toolUse","timestamp":2}}`
	gets      = `{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-11-20T11:25:50.302Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false,"timestamp":3}}`
	says      = `{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-11-20T11:25:50.303Z","message":{"role":"assistant","content":[{"type":"text","text":"One file."}],"stopReason":"stop","timestamp":4}}`
	extension = `{"type":"custom","id":"eeeeeeee","parentId":"dddddddd","timestamp":"2026-11-20T11:25:50.304Z","customType":"theirs","data":{"n":1}}`
)

func TestRepair(t *testing.T) {
	without := func(line, old, text string) string { return strings.Replace(line, old, text, 1) }
	tests := []struct {
		name  string
		lines []string
		fixes []string // parts of what is said
		keeps []string // parts of the mended file
		gone  []string
	}{
		{name: "healthy", lines: []string{head, asks, calls, gets, says, extension}},
		{name: "healthy with blank lines and CRLF", lines: []string{head + "\r", asks + "\r", "", "\r", calls + "\r", gets}},
		{name: "a result without its call", lines: []string{head, asks, without(gets, "bbbbbbbb", "aaaaaaaa")},
			fixes: []string{"line 3: the result of the tool call t1"}, keeps: []string{`"orphan":true`, `"result":"a.txt"`}, gone: []string{`"role":"toolResult"`}},
		{name: "a call without its result", lines: []string{head, asks, calls, without(says, "cccccccc", "bbbbbbbb")},
			fixes: []string{"line 4: the tool call t1 without a result"}, keeps: []string{`"role":"toolResult","toolCallId":"t1"`, `"parentId":"bbbbbbbb"`}},
		{name: "a call without its result at the end", lines: []string{head, asks, calls}, fixes: []string{"the tool call t1 without a result"}},
		{name: "a result that comes twice", lines: []string{head, asks, calls, gets, without(without(gets, "cccccccc", "ffffffff"), "bbbbbbbb", "cccccccc")},
			fixes: []string{"line 5: the result of the tool call t1"}, keeps: []string{`"orphan":true`}},
		{name: "a result behind the next message", lines: []string{head, asks, calls, without(says, "cccccccc", "bbbbbbbb"), without(gets, "bbbbbbbb", "dddddddd")},
			fixes: []string{"the tool call t1 without a result", "line 5: the result of the tool call t1"}},
		{name: "an interrupted call of ours", lines: []string{head, asks, calls,
			`{"type":"custom","id":"eeeeeeee","parentId":"bbbbbbbb","timestamp":"2026-11-20T11:25:50.304Z","customType":"assistant.event","data":{"chatEventType":"tool_result","payload":{"toolCallId":"t1","result":"interrupted","isError":true,"interrupted":true}}}`,
			without(says, "cccccccc", "eeeeeeee")}},
		{name: "a failed message with a call", lines: []string{head, asks, without(calls, "toolUse", "aborted")}},
		{name: "a torn last line", lines: []string{head, asks, calls[:60]}, fixes: []string{"line 3: a line that isn't an entry"}, gone: []string{"bbbbbbbb"}},
		{name: "an entry behind a torn one", lines: []string{head, asks, calls[:60] + without(says, "cccccccc", "aaaaaaaa")}, fixes: []string{"cut off is removed"}, keeps: []string{"dddddddd"}},
		{name: "garbage and zeros", lines: []string{head, "what?", asks, "\x00\x00\x00", `["an array"]`}, fixes: []string{"line 2:", "line 4:", "line 5:"}, keeps: []string{"Hello"}},
		{name: "what only a lenient reader takes", lines: []string{head, asks, strings.Replace(extension, "theirs", "the\x01irs", 1)}, fixes: []string{"line 3: a line that isn't an entry"}},
		{name: "an id twice", lines: []string{head, asks, without(without(says, "dddddddd", "aaaaaaaa"), "cccccccc", "aaaaaaaa"), without(extension, "dddddddd", "aaaaaaaa")},
			fixes: []string{"line 3: the id aaaaaaaa is there twice"}, keeps: []string{"One file."}},
		{name: "an entry twice", lines: []string{head, asks, asks}, fixes: []string{"line 3: the id aaaaaaaa is there twice"}},
		{name: "no id", lines: []string{head, asks, without(says, `"id":"dddddddd","parentId":"cccccccc",`, ``)}, fixes: []string{"line 3: an entry without an id"}},
		{name: "a missing parent", lines: []string{head, asks, says}, fixes: []string{"line 3: the parent cccccccc of dddddddd isn't there"}, keeps: []string{`"id":"dddddddd","parentId":"aaaaaaaa"`}},
		{name: "its own parent", lines: []string{head, asks, without(says, "cccccccc", "dddddddd")}, fixes: []string{"the parent dddddddd of dddddddd isn't there"}},
		{name: "no header", lines: []string{asks, calls, gets}, fixes: []string{"line 1: the header is missing"}, keeps: []string{`"type":"session","version":3`, `"timestamp":"2026-11-20T11:25:50.300Z"`}},
		{name: "the header is late", lines: []string{asks, head, calls, gets}, fixes: []string{"line 1: the header is moved"}},
		{name: "two headers", lines: []string{head, asks, without(head, "01a1f8b4", "02a1f8b4")}, fixes: []string{"line 3: a second header"}},
		{name: "the same header twice", lines: []string{head, asks, head}, fixes: []string{"line 3: a second header"}},
		{name: "the header is late, and comes again", lines: []string{asks, head, head}, fixes: []string{"line 1: the header is moved", "line 3: a second header"}},
		{name: "a byte order mark", lines: []string{"\uFEFF" + head, asks}, fixes: []string{"byte order mark"}},
		{name: "pi's first version", lines: []string{without(head, `"version":3,`, ``), `{"type":"message","timestamp":"2026-11-20T11:25:50.300Z","message":{"role":"user","content":"Hello"}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := sessionFile(t, strings.Join(tt.lines, "\n")+"\n")
			before, after := repaired(t, path, tt.fixes)
			contains(t, after, tt.keeps)
			for _, part := range tt.gone {
				if strings.Contains(after, part) {
					t.Errorf("still there: %s\n%s", part, after)
				}
			}
			if len(tt.fixes) == 0 && after != before {
				t.Error("a healthy file was changed")
			}
		})
	}
}

// repaired repairs a file: a dry run changes nothing and tells the same, the
// file as it was is kept, and the second time there is nothing to do.
func repaired(t *testing.T, path string, want []string) (before, after string) {
	t.Helper()
	before = read(t, path)
	dry, backup, err := Repair(path, t.TempDir(), true)
	if err != nil || backup != "" || read(t, path) != before {
		t.Fatalf("a dry run: %v, backup %q", err, backup)
	}
	fixes, backup, err := Repair(path, t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	said := sentences(fixes)
	if len(fixes) != len(dry) || len(fixes) != len(want) {
		t.Errorf("%d fixes, %d in the dry run, want %d:\n%s", len(fixes), len(dry), len(want), said)
	}
	contains(t, said, want)
	if (backup != "") != (len(want) > 0) || backup != "" && read(t, backup) != before {
		t.Errorf("the backup %q isn't the file as it was", backup)
	}
	if again, _, err := Repair(path, t.TempDir(), false); err != nil || len(again) > 0 {
		t.Errorf("the second time: %s %v", sentences(again), err)
	}
	if _, skipped := replay(t, path); skipped > 0 {
		t.Errorf("%d lines can't be read", skipped)
	}
	return before, read(t, path)
}

func TestRepairGivesTheLastLineItsEnd(t *testing.T) {
	path := sessionFile(t, head+"\n"+asks)
	fixes, _, err := Repair(path, "", false)
	if err != nil || len(fixes) != 1 || read(t, path) != head+"\n"+asks+"\n" {
		t.Errorf("%s %v", sentences(fixes), err)
	}
}

func TestRepairKeepsWhatWasReal(t *testing.T) {
	for _, path := range []string{"pi-sess.jsonl", "pi-sess2.jsonl", "pi-old-sess.jsonl"} {
		if fixes, _, err := Repair("../testdata/pi-sessions/"+path, "", true); err != nil || len(fixes) > 0 {
			t.Errorf("%s: %s %v", path, sentences(fixes), err)
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	healthy := sessionFile(t, head+"\n"+calls+"\n")
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(healthy, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		link:                            "is a link",
		t.TempDir():                     "a regular file",
		sessionFile(t, ""):              "a session file",
		sessionFile(t, "# Notes\n"):     "a session file",
		sessionFile(t, "{}\n[1]\n"):     "a session file",
		"no-such-file":                  "no such file",
		"testdata/claude-2.1.329.jsonl": "transcript of claude's",
	} {
		if _, _, err := Repair(path, "", false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if read(t, healthy) != head+"\n"+calls+"\n" {
		t.Error("the file behind the link was changed")
	}
}

func TestBackupsDontOverwriteEachOther(t *testing.T) {
	path := sessionFile(t, head+"\ngarbage\n"+asks+"\n")
	if err := os.WriteFile(path+".bak", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, backup, err := Repair(path, "", false)
	if err != nil || backup != path+".bak2" || read(t, path+".bak") != "mine" {
		t.Errorf("%s %v", backup, err)
	}
}

func sessionFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "2026-11-20T11-25-50-210Z_01a1f8b4.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func sentences(fixes []Fix) string {
	var b strings.Builder
	for _, f := range fixes {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func contains(t *testing.T, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
