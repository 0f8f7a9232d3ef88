package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// watcher hears what a loop warns of.
type watcher struct{ warnings []string }

func (w *watcher) Handle(stream.Event) {}

func (w *watcher) HandleLoop(e loop.Event) {
	if warning, ok := e.(loop.Warning); ok {
		w.warnings = append(w.warnings, warning.Message)
	}
}

// echoes is a configuration of a loop whose agent says hello.
func echoes(t *testing.T) setup.Config {
	t.Helper()
	said := filepath.Join(t.TempDir(), "said")
	if err := os.WriteFile(said, []byte(`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"stopReason":"stop"}}
{"type":"agent_settled"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := setup.Config{
		Folder: t.TempDir(), Prompt: "Build it\nnow", Values: settings.Values{Instruct: new(false)}, Limits: limits.Default(), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
	}
	cfg.Backend.Name, cfg.Backend.Command, cfg.Backend.Args = "custom", "/bin/cat", []string{said}
	cfg.Backend.Prompt, cfg.Backend.Output = "stdin", decode.FormatPi
	cfg.Limits.MaxIterations, cfg.Limits.MaxUnchanged = 2, 0
	return cfg
}

// runs runs a loop to its end.
func runs(t *testing.T, cfg setup.Config, obs loop.Observer) (session string) {
	t.Helper()
	var host setup.Host
	r := journal.NewRecorder(obs)
	r.Keep(cfg, &host)
	l, err := begin(cfg, host, r)
	if err != nil {
		t.Fatal(err)
	}
	log := r.Open(l.ID(), !cfg.Storage.History.Off)
	defer log.Close()
	if end := l.Wait(); end.Reason != loop.StopMaxIterations {
		t.Errorf("it ended: %+v", end)
	}
	return l.Status().SessionFile
}

// entries counts what a session file holds.
func entries(t *testing.T, path string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, of := range []string{`"loop_start"`, `"loop_end"`, `"iteration_start"`, `"iteration_end"`, `"callback"`, `"role":"assistant"`} {
		n[of] = strings.Count(string(data), of)
	}
	return n
}

func TestALoopIsKeptInOneSession(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := echoes(t)
	path := runs(t, cfg, &watcher{})
	if diff := cmp.Diff(map[string]int{`"loop_start"`: 1, `"loop_end"`: 1, `"iteration_start"`: 2, `"iteration_end"`: 2, `"callback"`: 2, `"role":"assistant"`: 2}, entries(t, path)); diff != "" {
		t.Error(diff)
	}
	more := 3
	cfg.Continue, cfg.Change = true, loop.Patch{Given: limits.Given{MaxIterations: &more}}
	if again := runs(t, cfg, &watcher{}); again != path {
		t.Errorf("it goes on in %s", again)
	}
	if n := entries(t, path); n[`"loop_start"`] != 2 || n[`"iteration_end"`] != 3 || n[`"loop_end"`] != 2 {
		t.Errorf("it has %v", n)
	}
}

func TestALoopThatIsNotKept(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg, w := echoes(t), &watcher{}
	cfg.Storage.History.Off = true
	if path := runs(t, cfg, w); path != "" || len(w.warnings) > 1 { // that nothing verifies it, maybe
		t.Errorf("session %q, %q", path, w.warnings)
	}
	if files, err := os.ReadDir(cfg.Storage.History.Folder); err != nil || len(files) > 0 {
		t.Errorf("there are %v, %v", files, err)
	}
}

// A loop whose session can't be written goes on. The user is told once.
func TestALoopGoesOnWithoutItsHistory(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, w := echoes(t), &watcher{}
	cfg.Storage.History.Folder = filepath.Join(file, "below")
	runs(t, cfg, w)
	if n := strings.Count(strings.Join(w.warnings, "\n"), "history is not complete"); n != 1 {
		t.Errorf("%d warnings: %q", n, w.warnings)
	}
}

// A start that fails leaves no session.
func TestAStartThatFailsIsNotKept(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := echoes(t)
	cfg.Backend.Command = filepath.Join(t.TempDir(), "gone")
	if _, err := Start(cfg, setup.Host{}, notify.At{}); err == nil {
		t.Fatal(errors.New("it has begun"))
	}
	if files, err := os.ReadDir(cfg.Storage.History.Folder); err != nil || len(files) > 0 {
		t.Errorf("there are %v, %v", files, err)
	}
}

// goodbyes looks, as soon as it hears that a loop is over, at what everybody else can see then.
type goodbyes struct {
	watcher
	t      *testing.T
	folder string
	story  func() string // the file of it
	looked bool
}

func (g *goodbyes) HandleLoop(e loop.Event) {
	g.watcher.HandleLoop(e)
	if s, ok := e.(loop.StateChanged); !ok || s.State != loop.StateEnded || g.looked {
		return
	}
	g.looked = true
	if st, _ := loop.FolderStatus(g.folder); st.Owner != nil {
		g.t.Error("it is told that it is over, and the folder isn't free")
	}
	data, err := os.ReadFile(g.story())
	if lines := strings.Split(strings.TrimSpace(string(data)), "\n"); err != nil || !strings.Contains(lines[len(lines)-1], `"_ralph/end"`) {
		g.t.Errorf("the folder is free, and the story ends with %s %v", lines[len(lines)-1], err)
	}
}

// Who sees that nobody drives a loop any more finds how it ended.
func TestTheEndIsWrittenBeforeTheFolderIsFree(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := echoes(t)
	g := &goodbyes{t: t, folder: cfg.Folder}
	g.story = func() string {
		dir, _ := paths.State("loops")
		files, _ := filepath.Glob(filepath.Join(dir, "*", registry.JournalName))
		return strings.Join(files, "")
	}
	runs(t, cfg, g)
	if !g.looked {
		t.Error("nobody told that it is over")
	}
}
