package setup

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Only what the state file says of walls is left when a machine crashes.
func TestTheStateFileSaysWhichWallsThereAre(t *testing.T) {
	for _, tt := range []struct {
		spec sandbox.Spec
		want loopstate.State
	}{
		{sandbox.Spec{}, loopstate.State{}},
		{sandbox.Spec{Mode: sandbox.Off, Engine: sandbox.Runtime}, loopstate.State{}},
		{sandbox.Spec{Mode: sandbox.Workspace, Engine: sandbox.Runtime}, loopstate.State{Values: settings.Values{Sandbox: sandbox.Workspace}, SandboxEngine: sandbox.Runtime}},
		{sandbox.Spec{Mode: sandbox.Workspace}, loopstate.State{Values: settings.Values{Sandbox: sandbox.Workspace}, SandboxEngine: sandbox.Bubblewrap}},
	} {
		s := Config{Sandbox: tt.spec}.NewState("ralph-a", time.Now())
		if s.Sandbox != tt.want.Sandbox || s.SandboxEngine != tt.want.SandboxEngine {
			t.Errorf("%+v: got %q, %q", tt.spec, s.Sandbox, s.SandboxEngine)
		}
	}
}
