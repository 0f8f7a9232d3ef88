package loop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/history"
	"ralph-lsp/internal/limits"
	"ralph-lsp/stream"
)

// records collects what a session holds besides the agent's events.
type records []history.Record

func (*records) Handle(stream.Event)             {}
func (r *records) HandleRecord(h history.Record) { *r = append(*r, h) }

func readSession(t *testing.T, path string) (all records) {
	t.Helper()
	r, err := history.NewReader(path, history.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next(&all) {
	}
	if r.Err() != nil || r.Stats().Skipped > 0 {
		t.Errorf("%v, %d lines skipped", r.Err(), r.Stats().Skipped)
	}
	return all
}

func count[R history.Record](all records) (n int) {
	for _, r := range all {
		if _, ok := r.(R); ok {
			n++
		}
	}
	return n
}

func TestALoopIsKeptInOneSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.Limits.MaxIterations = 2 }, run{}, run{})
		path := r.Status().SessionFile
		r.over(StopMaxIterations, 2)
		if named := r.resumable().SessionFile; path == "" || named != path {
			t.Errorf("the status names %q, the state %q", path, named)
		}
		kept := readSession(t, path)
		if count[history.LoopStart](kept) != 1 || count[history.IterationStart](kept) != 2 || count[history.IterationEnd](kept) != 2 ||
			count[history.Input](kept) != 2 || count[history.LoopEnd](kept) != 1 {
			t.Errorf("kept %+v", kept)
		}
		if end, ok := kept[len(kept)-1].(history.LoopEnd); !ok || end.Limit != 2 {
			t.Errorf("the limit that ended it isn't kept: %+v", kept[len(kept)-1])
		}

		more := 3
		again := start(t, func(c *Config) {
			*c = Config{Folder: r.cfg.Folder, History: r.cfg.History, Backend: c.Backend, Continue: true, Change: Patch{Given: limits.Given{MaxIterations: &more}}}
		}, run{})
		again.over(StopMaxIterations, 1)
		if again.Status().SessionFile != path {
			t.Errorf("it goes on in %s", again.Status().SessionFile)
		}
		if kept = readSession(t, path); count[history.LoopStart](kept) != 2 || count[history.IterationStart](kept) != 3 {
			t.Errorf("kept %+v", kept)
		}
	})
}

func TestALoopThatIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.History.Off, c.Limits.MaxIterations = true, 1 }, run{})
		r.over(StopMaxIterations, 1)
		if r.Status().SessionFile != "" || r.log.has("warning") {
			t.Errorf("session %q\n%s", r.Status().SessionFile, strings.Join(r.log.lines, "\n"))
		}
	})
}

// TestALoopGoesOnWithoutItsHistory can't write its session: the user is told
// once, and that is all.
func TestALoopGoesOnWithoutItsHistory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r := start(t, func(c *Config) { c.History.Folder, c.Limits.MaxIterations = filepath.Join(file, "below"), 3 }, run{}, run{}, run{})
		r.over(StopMaxIterations, 3)
		if n := r.log.count("history is not complete"); n != 1 {
			t.Errorf("%d warnings\n%s", n, strings.Join(r.log.lines, "\n"))
		}
	})
}

// A loop that goes on needs its agent's arguments; its session is kept, and read by others.
func TestNoSecretIsInTheSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.Args, c.Limits.MaxIterations = []string{"--api-key", "hunter2"}, 1 }, run{})
		path := r.Status().SessionFile
		r.over(StopMaxIterations, 1)
		data, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(data), "hunter2") || !strings.Contains(string(data), `["--api-key","***"]`) {
			t.Errorf("%v: %s", err, data)
		}
		if got := r.agents.specs[0].Args; !slices.Equal(got, []string{"--api-key", "hunter2"}) {
			t.Errorf("the agent gets %q", got)
		}
	})
}
