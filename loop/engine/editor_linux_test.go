package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// countingLoop is a loop of a shell's that spends nothing and ends quickly, again and again.
func countingLoop(t *testing.T, script string) setup.Config {
	c := setup.Config{Folder: t.TempDir(), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}, Prompt: "Count",
		Limits: limits.Default()}
	c.Backend = shell("agent", script, backends.PromptStdin).Backend
	c.Limits.MaxIterations, c.Limits.MaxUnchanged, c.Limits.MaxFailures = 0, 0, 0
	return c
}

// An editor saves again and again while iterations come and go, in each way that editors have. Its
// last word is there at the end, and what an agent was given is something that was saved.
func TestNoSaveIsLostBesideALoop(t *testing.T) {
	c := countingLoop(t, `p=$(cat); printf '%s\n' "$p" >>prompts; echo no`)
	l, err := drive(c, setup.Host{}, &watcher{})
	must.OK(t, err)
	path := l.Status().StateFile
	text := func(i int) string {
		return fmt.Sprintf("---\nactive: true # mine\nloop_id: %s\nowner: me\n---\n\n%s", l.ID(), strings.Repeat(fmt.Sprintf("save %d.\n", i), 200))
	}
	ways := []func(text string) error{
		func(text string) error { return os.WriteFile(path, []byte(text), 0o600) },
		func(text string) error {
			if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
				return err
			}
			return os.Rename(path+"~", path)
		},
		func(text string) error { // cut to nothing, then filled
			if err := os.Truncate(path, 0); err != nil {
				return err
			}
			time.Sleep(5 * time.Millisecond)
			return os.WriteFile(path, []byte(text), 0o600)
		},
	}
	const saves = 200
	for i := 1; i <= saves; i++ {
		must.OK(t, ways[i%len(ways)](text(i)))
		if got := readText(t, path); got != text(i) {
			t.Fatalf("save %d became %.200q", i, got)
		}
		time.Sleep(5 * time.Millisecond)
	}
	runs := l.Status().Iteration
	proctest.Until(t, "two more runs", func() bool { return l.Status().Iteration >= runs+2 })
	l.Interrupt()
	left := readText(t, path)
	if want := text(saves)[strings.Index(text(saves), "loop_id"):]; !strings.HasSuffix(left, want) || !strings.Contains(left, "active: true # mine\niteration: ") || strings.Contains(left, "elapsed") {
		t.Errorf("at the end there is %.300q", left)
	}
	prompts := strings.Split(readText(t, filepath.Join(c.Folder, "prompts")), "\n")
	inARow, before := 0, ""
	for _, line := range append(prompts, "") {
		if line != before && strings.HasPrefix(before, "save ") && inARow%200 != 0 {
			t.Errorf("an agent was given %d lines of %q", inARow, before)
		}
		if line != before {
			inARow = 0
		}
		inARow, before = inARow+1, line
	}
}

// Two loops have two files, and what one has spent isn't the other's. Of neither file changes more than the number
// of the iteration while they work.
func TestTwoLoopsInTwoFolders(t *testing.T) {
	var files []string
	var loops []*Loop
	for range 2 {
		l, err := drive(countingLoop(t, "cat >/dev/null; echo no"), setup.Host{}, &watcher{})
		must.OK(t, err)
		loops, files = append(loops, l), append(files, readText(t, l.Status().StateFile))
	}
	for i, l := range loops {
		proctest.Until(t, "the third run", func() bool { return l.Status().Iteration >= 3 })
		number := regexp.MustCompile(`(?m)^iteration: \d+$`)
		if now := readText(t, l.Status().StateFile); number.ReplaceAllString(now, "iteration: 1") != files[i] || now == files[i] {
			t.Errorf("its file became %q", now)
		}
		if st, err := loop.FolderStatus(l.Status().Folder); err != nil || st.Owner == nil || st.Iteration < 3 || st.LoopID != l.ID() {
			t.Errorf("others see %+v, %v", st, err)
		}
	}
	for _, l := range loops {
		l.Interrupt()
		file, err := loopstate.Open(l.Status().Folder)
		must.OK(t, err)
		if s, err := file.Load(); err != nil || s.LoopID != l.ID() || s.Elapsed == 0 || s.Begun {
			t.Errorf("left is %+v, %v", s, err)
		}
	}
}

// A start tells where nothing can be kept, and leaves nothing.
func TestAStartThatCanKeepNothing(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("RALPH_STATE_DIR", filepath.Join(blocked, "state"))
	c := countingLoop(t, "echo no")
	_, err := drive(c, setup.Host{}, &watcher{})
	if err == nil || !strings.Contains(err.Error(), "name another one in RALPH_STATE_DIR") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(c.Folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
