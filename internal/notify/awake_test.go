//go:build linux

package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// The machine is kept awake while runs are at work, and at no other time.
func TestAwakeWhileRunsAreAtWork(t *testing.T) {
	dir := t.TempDir()
	held := filepath.Join(dir, "held")
	script := "#!/bin/sh\n: >" + held + "\ncat\nrm " + held + "\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "systemd-inhibit"), []byte(script), 0o700))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	await := func(step string, want bool) {
		t.Helper()
		proctest.Until(t, fmt.Sprintf("%s: held is %t", step, want), func() bool { return exists(held) == want })
	}
	tell := func(cfg setup.Config) *Notifier {
		tl := New(cfg, At{})
		close(tl.known)
		return tl
	}
	tl := tell(setup.Config{Notify: settings.Notify{KeepAwake: true}})
	for step, tt := range []struct {
		e    loop.Event
		want bool
	}{
		{loop.StateChanged{State: loop.StateRunning}, false}, {loop.IterationStart{}, true}, {loop.IterationEnd{}, true}, {loop.StateChanged{State: loop.StateWaiting}, false},
		{loop.IterationStart{}, true}, {loop.StateChanged{State: loop.StatePaused}, false}, {loop.IterationStart{}, true}, {loop.End{}, false}, {loop.IterationStart{}, true},
	} {
		tl.HandleLoop(tt.e)
		await(string(rune('a'+step)), tt.want)
	}
	tl.Close()
	await("closed", false)
	for name, cfg := range map[string]setup.Config{"off": {}, "a program's": {Once: true, Notify: settings.Notify{KeepAwake: true}}} {
		tl := tell(cfg)
		tl.HandleLoop(loop.IterationStart{})
		if tl.awake.IsHeld() {
			t.Errorf("%s: it is held", name)
		}
		tl.Close()
	}
}
