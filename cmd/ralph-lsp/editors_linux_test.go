package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// editorIn is an editor that has a folder open.
func editorIn(t *testing.T, dir, mark string) *lsptest.Client {
	t.Helper()
	cmd := exec.Command("ralph-lsp", "--stdio")
	cmd.Env = append(cmd.Environ(), mark, "RALPH_EDITOR_GRACE=30s")
	in, err := cmd.StdinPipe()
	insist(err)
	out, err := cmd.StdoutPipe()
	insist(err)
	insist(cmd.Start())
	c := lsptest.New(t, in, out, proctest.Patience)
	t.Cleanup(func() {
		c.Close()
		_ = cmd.Wait()
	})
	c.Initialize(map[string]any{"experimental": map[string]any{"ralph": map[string]any{"version": wire.Version, "updates": true, "permissions": true}}}, dir)
	return c
}

// asked are updates from the first question on, without what only some windows are told of each: when, of which loop.
func asked(updates []json.RawMessage) (lines []string) {
	for _, data := range updates {
		var u map[string]any
		insist(json.Unmarshal(data, &u))
		for _, key := range []string{"loopId", "iteration", "time"} {
			delete(u, key)
		}
		if len(lines) > 0 || u["sessionUpdate"] == wire.KindQuestion {
			line, err := json.Marshal(u)
			insist(err)
			lines = append(lines, string(line))
		}
	}
	return lines
}

// updatesOf are those that an editor was told. One that it missed, or was told twice, is an error.
func updatesOf(t *testing.T, heard []lsptest.Message) (all []json.RawMessage) {
	t.Helper()
	cursor := ""
	for _, m := range heard {
		if m.Method != wire.MethodUpdate {
			continue
		}
		var p wire.UpdateParams
		insist(json.Unmarshal(m.Params, &p))
		if p.Dropped > 0 || cursor != "" && p.After != cursor {
			t.Errorf("behind %q comes what is behind %q, %d are dropped", cursor, p.After, p.Dropped)
		}
		cursor = p.Cursor
		all = append(all, p.Updates...)
	}
	return all
}

// Two editors, a terminal that prints JSON and top are windows of one loop: a question that is answered in one goes from the
// others, and each is told each event once, in the same order.
func TestEveryKindOfWindowOfOneLoop(t *testing.T) {
	inFolderWithAgent(t)
	dir, err := os.Getwd()
	insist(err)
	mark := "RALPH_TEST_RUN=" + dir
	t.Cleanup(func() { proctest.Kill(t, mark) })
	agent := filepath.Join(t.TempDir(), "claude")
	insist(os.WriteFile(agent, []byte(strings.Replace(askingClaude, "read -r prompt\n", "read -r prompt\nuntil [ -e go ]; do sleep 0.05; done\n", 1)), 0o700))
	t.Setenv("PATH", filepath.Dir(agent)+string(filepath.ListSeparator)+os.Getenv("PATH"))

	folder := wire.FileURI(dir)
	first := editorIn(t, dir, mark)
	first.Must(first.Command(wire.CommandStart, map[string]any{
		"folder": folder, "text": "--backend claude --permissions ask --max-iterations 1 --completion-promise DONE Push it",
	}))
	second := editorIn(t, dir, mark)
	second.Hears(wire.MethodStatus, `"state":"running"`)
	watching := &terminalRun{t: t, folder: dir, mark: mark}
	terminal := watching.watch("json")
	terminal.awaits(`"phase":"begin"`)
	top := newTestTerminal(t, exec.Command("ralph-lsp", "top"))
	top.await("Ralph 1/1")

	must.Write(t, "go", "")
	editors := []*lsptest.Client{first, second}
	for _, e := range editors {
		e.Hears(wire.MethodUpdate, `"_ralph/question"`)
	}
	terminal.awaits(`"_ralph/question"`)
	top.await("Bash git push")
	second.Hears(wire.MethodStatus, `"kind":"permission"`) // what is answered without an id is the status's
	second.Must(second.Command(wire.CommandAnswer, map[string]any{"folder": folder, "answer": "once"}))
	for _, e := range editors {
		e.Hears(wire.MethodUpdate, `"_ralph/answer"`)
		e.Hears(wire.MethodUpdate, `"_ralph/end"`)
	}
	top.await("done")
	top.types("q")
	_ = terminal.cmd.Wait()

	var printed []json.RawMessage
	for line := range strings.Lines(terminal.said()) {
		if strings.HasPrefix(line, "{") {
			printed = append(printed, json.RawMessage(line))
		}
	}
	want := asked(printed)
	for i, e := range editors {
		if diff := cmp.Diff(want, asked(updatesOf(t, e.Heard()))); diff != "" {
			t.Errorf("editor %d was told otherwise than the terminal:\n%s", i+1, diff)
		}
	}
	if len(want) < 6 {
		t.Errorf("the terminal was told only %q", want)
	}
}
