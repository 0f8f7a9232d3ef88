package engine

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// guarding is a loop with snapshots in a folder, whose work is verified by a script.
func guarding(t *testing.T, dir string, configure func(*setup.Config), runs ...run) *rig {
	t.Helper()
	return verified(t, []checked{passes}, func(c *setup.Config) {
		kept(t, dir)(c)
		c.Limits.MaxIterations = 9
		c.Verification.Check.Command = []string{"make", "-f", "./check.mk"}
		c.Verification.File = "ralph.toml"
		if configure != nil {
			configure(c)
		}
	}, runs...)
}

func protecting(c *setup.Config) { c.Verification.Check.Protect = []string{"**/*_test.go"} }

// doing is a short run that does something, and promises.
func doing(f func()) run {
	if f == nil {
		f = func() {}
	}
	r := promise
	r.lasts, r.during = time.Millisecond, f
	return r
}

// waitPaused waits until the loop asks its user.
func (r *rig) waitPaused() {
	r.t.Helper()
	proctest.Until(r.t, "it is paused", func() bool { return r.Status().State == loop.StatePaused })
}

func TestTheEndNamesWhatTheLoopWasVerifiedByAndChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		write []string // by the loop
		want  string
	}{
		"nothing of it":      {[]string{"a.go", "new", "a_test.go", "new"}, ""},
		"the script":         {[]string{"check.mk", "new"}, "check.mk"},
		"what make reads":    {[]string{"Makefile", "new"}, "Makefile (added)"},
		"the [verify] table": {[]string{"ralph.toml", "new"}, "ralph.toml ([verify])"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			place := func(files ...string) {
				for i := 0; i < len(files); i += 2 {
					put(t, filepath.Join(dir, files[i]), files[i+1])
				}
			}
			place("a.go", "old", "a_test.go", "old", "check.mk", "old", "ralph.toml", "old")
			r := guarding(t, dir, nil, doing(func() { place(tt.write...) }))
			if end := r.over(loop.StopPromise, 1); end.Guards != tt.want {
				t.Errorf("got %q", end.Guards)
			}
		})
	}
}

func TestAPromiseWaitsWhenTheLoopChangedWhatIsProtected(t *testing.T) {
	dir := t.TempDir()
	file, theirs := filepath.Join(dir, "sub", "a_test.go"), filepath.Join(dir, "b_test.go")
	put(t, file, "old", theirs, "old")
	r := guarding(t, dir, protecting,
		doing(func() { put(t, file, "new", filepath.Join(dir, "c_test.go"), "new") }))
	r.waitPaused()
	if st := r.Status(); st.Unchecked != "protected files were changed by the loop: c_test.go (added), sub/a_test.go" {
		t.Errorf("got %q", st.Unchecked)
	}
	// The user mends one of them, changes another, and wants to have it looked at again.
	put(t, file, "old", theirs, "better")
	r.Resume(loop.Patch{})
	proctest.Until(t, "another look", func() bool { return r.log.count("verify unchecked: protected files") >= 2 })
	r.waitPaused()
	if st := r.Status(); st.Unchecked != "protected files were changed by the loop: c_test.go (added)" {
		t.Errorf("got %q", st.Unchecked)
	}
	r.checks(1) // what has passed isn't asked again
	r.Resume(loop.Patch{Accept: true})
	if end := r.over(loop.StopPromise, 1); end.Guards != "c_test.go (added)" {
		t.Errorf("got %q", end.Guards)
	}
}

// Whoever protects something protects what decides, too.
func TestWhoProtectsFilesProtectsTheCheck(t *testing.T) {
	for _, name := range []string{"check.mk", "ralph.toml"} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		put(t, file, "old")
		r := guarding(t, dir, protecting, doing(func() { put(t, file, "new") }))
		r.waitPaused()
		if st := r.Status(); !strings.Contains(st.Unchecked, name) {
			t.Errorf("got %q", st.Unchecked)
		}
		r.Cancel()
	}
}

func TestWhatWasChangedBackPasses(t *testing.T) {
	dir := t.TempDir()
	file, theirs := filepath.Join(dir, "a_test.go"), filepath.Join(dir, "b_test.go")
	put(t, file, "old", theirs, "old")
	change := says("not yet")
	change.lasts, change.during = time.Millisecond, func() { put(t, file, "new") }
	r := guarding(t, dir, protecting, change, doing(func() { put(t, file, "old") }))
	if end := r.over(loop.StopPromise, 2); end.Guards != "" {
		t.Errorf("got %q", end.Guards)
	}
}

// Whoever drove the loop was killed while its agent changed a test: nobody can tell
// that from what the user did since.
func TestWhatARunThatWasCutOffChangedWaits(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a_test.go")
	put(t, file, "old")
	configure := kept(t, dir)
	changed := make(chan struct{})
	atWork := writes(t)
	atWork.lasts = time.Hour // as good as killed
	atWork.during = func() { put(t, file, "new"); close(changed) }
	killed := guarding(t, dir, configure, atWork)
	<-changed
	found := &loopstate.State{Iteration: 1, Begun: true, Prompt: "Build it", Values: settings.Values{Given: limits.Given{Promise: new("DONE")}}}
	r, err := tryStart(t, found, func(c *setup.Config) {
		configure(c)
		protecting(c)
		c.Continue, c.Verification.Check.When = true, verify.OnPromise
	}, doing(nil))
	must.OK(t, err)
	r.waitPaused()
	if st := r.Status(); st.Unchecked != "protected files were changed by the loop: a_test.go (modified by a run that was cut off, or since)" {
		t.Errorf("got %q", st.Unchecked)
	}
	r.Cancel()
	killed.Cancel()
}

// A file that the command names and the loop had to make is its work, not its guard.
func TestWhatTheLoopMakesIsToldAndDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	r := guarding(t, dir, protecting, doing(func() { put(t, filepath.Join(dir, "check.mk"), "new") }))
	if end := r.over(loop.StopPromise, 1); end.Guards != "check.mk (added)" {
		t.Errorf("got %q", end.Guards)
	}
}

// What can't be told isn't fine.
func TestWithoutSnapshotsNothingIsProtected(t *testing.T) {
	t.Run("none are kept", func(t *testing.T) {
		r := guarding(t, t.TempDir(), func(c *setup.Config) { protecting(c); c.Storage.Changes.Keep = 0 }, doing(nil))
		r.waitPaused()
		if st := r.Status(); !strings.Contains(st.Unchecked, "protected files can't be told from others: there are no snapshots (changes.keep is 0)") {
			t.Errorf("got %q", st.Unchecked)
		}
		r.Cancel()
	})
	t.Run("none can be made", func(t *testing.T) {
		books := filepath.Join(t.TempDir(), "books")
		put(t, books, "a file")
		r := guarding(t, t.TempDir(), func(c *setup.Config) { protecting(c); c.Storage.Changes.Dir = books }, doing(nil))
		r.waitPaused()
		if st := r.Status(); !strings.Contains(st.Unchecked, "protected files can't be told from others: ") {
			t.Errorf("got %q", st.Unchecked)
		}
		r.Resume(loop.Patch{Accept: true})
		r.over(loop.StopPromise, 1)
	})
	t.Run("nothing is protected", func(t *testing.T) {
		r := guarding(t, t.TempDir(), func(c *setup.Config) { c.Storage.Changes.Keep = 0 }, doing(nil))
		r.over(loop.StopPromise, 1)
	})
}
