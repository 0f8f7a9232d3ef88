package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Who has an agent that is only slow isn't told to install it.
func TestTheDoctorsAdviceFitsWhatIsWrong(t *testing.T) {
	agent, err := backends.Lookup("pi")
	must.OK(t, err)
	for name, tt := range map[string]struct {
		err           error
		message, does string
	}{
		"missing": {&backends.NotFoundError{Looked: []backends.Backend{agent}}, "pi is not installed", agent.HowToInstall()},
		"broken":  {errors.New("pi --version exited with code 3"), "pi at /bin/pi: pi --version exited with code 3", agent.HowToInstall()},
		"slow":    {fmt.Errorf("pi --version %w within 20s", backends.ErrNoAnswer), "pi at /bin/pi: pi --version gave no answer within 20s", "run it yourself"},
	} {
		checks, _ := backendChecks([]backends.Probe{{Backend: agent, Path: "/bin/pi", Err: tt.err}})
		got := checks[0]
		if got.OK || got.Message != tt.message || !strings.HasPrefix(got.Fix, tt.does) {
			t.Errorf("%s: %q, fix %q", name, got.Message, got.Fix)
		}
	}
}

// Who pays for claude with a subscription is told what its runs draw on.
func TestTheDoctorSaysHowAnAgentIsPaid(t *testing.T) {
	for name, want := range map[string]bool{"claude": true, "pi": false} {
		agent, err := backends.Lookup(name)
		must.OK(t, err)
		checks, _ := backendChecks([]backends.Probe{{Backend: agent, Path: "/bin/" + name, Version: "1.0"}})
		got := checks[0]
		if !got.OK || strings.Contains(got.Message, "; a subscription pays for claude -p") != want {
			t.Errorf("%s: %q", name, got.Message)
		}
	}
}

// What is wrong stands behind the path, however long that is.
func TestTheDoctorSaysWhatIsWrongInADeepFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep/", 40))
	path := filepath.Join(dir, filepath.FromSlash(loopstate.Name))
	must.Write(t, path, "---\niteration: many\n---\nDo it\n")
	if c := checkState(dir); c.OK || !strings.Contains(c.Message, "ralph-loop.local.md:2: ") {
		t.Errorf("got %q", c.Message)
	}
}
