package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// loopWith keeps a loop that was started with a prompt.
func loopWith(t testing.TB, o Options, cwd, prompt string) {
	t.Helper()
	w, err := NewWriter(o, cwd)
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRecord(LoopStart{LoopID: "ralph-x", Backend: "pi", Title: prompt, Prompt: prompt, StartedAt: time.Now()})
	w.HandleRecord(begins(1))
	w.HandleRecord(Input{Kind: InputCallback, Text: prompt})
	w.HandleRecord(Input{Kind: InputCallback, Text: "what the check said"})
	if err := w.Close(); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; { // times have milliseconds
	}
}

func TestPromptsOfAFolder(t *testing.T) {
	o, cwd := Options{Folder: t.TempDir()}, t.TempDir()
	loopWith(t, o, cwd, "Build X\n\x1b[31mred\n")
	loopWith(t, o, cwd, "Build Y")
	loopWith(t, o, t.TempDir(), "of another folder")
	loopWith(t, o, cwd, "Build X\n\x1b[31mred\n")
	loopWith(t, o, cwd, strings.Repeat("x", MaxPrompt+1))
	loopWith(t, o, cwd, strings.Repeat("\x01", MaxPrompt)) // six bytes each in the file
	for name, content := range map[string]string{"9-torn.jsonl": `{"type":"session","cwd":"` + cwd, "9-other.jsonl": "{}\n{}\n", "9-empty.jsonl": ""} {
		if err := os.WriteFile(filepath.Join(o.Folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Prompts(o, cwd)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d prompts, %v", len(got), err)
	}
	if len(got[0].Text) != MaxPrompt || got[1].Text != "Build X\n\x1b[31mred\n" || got[1].Uses != 2 || got[2].Text != "Build Y" || got[2].Uses != 1 || got[2].Folder != cwd {
		t.Errorf("got %+v", got[1:])
	}
	if !got[1].At.After(got[2].At) || time.Since(got[1].At) > time.Minute {
		t.Errorf("started at %v and %v", got[1].At, got[2].At)
	}
	if got, err := Prompts(Options{Folder: filepath.Join(cwd, "none")}, cwd); len(got) != 0 || err != nil {
		t.Errorf("of no folder: %+v, %v", got, err)
	}
}

func TestTheNewestPrompts(t *testing.T) {
	at := time.Now()
	got := Newest([]Prompt{{Text: "a", At: at, Uses: 1, Folder: "/old"}, {Text: "b", At: at.Add(1), Uses: 2}, {}, {Text: "a", At: at.Add(2), Uses: 3, Folder: "/new"}, {Text: "c", At: at.Add(-1), Uses: 1}}, 2)
	want := []Prompt{{Text: "a", At: at.Add(2), Uses: 4, Folder: "/new"}, {Text: "b", At: at.Add(1), Uses: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
