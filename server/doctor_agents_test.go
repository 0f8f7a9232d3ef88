package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ralph-lsp/backends"
)

// Who has an agent that is only slow isn't told to install it.
func TestTheDoctorsAdviceFitsWhatIsWrong(t *testing.T) {
	agent, err := backends.Lookup("pi")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		err           error
		message, does string
	}{
		"missing": {&backends.NotFoundError{Looked: []backends.Backend{agent}}, "pi is not installed", agent.HowToInstall()},
		"broken":  {errors.New("pi --version exited with code 3"), "pi at /bin/pi: pi --version exited with code 3", agent.HowToInstall()},
		"slow":    {fmt.Errorf("pi --version %w within 5s", backends.ErrNoAnswer), "pi at /bin/pi: pi --version gave no answer within 5s", "run it yourself"},
	} {
		got := backendChecks([]backends.Probe{{Backend: agent, Path: "/bin/pi", Err: tt.err}})[0]
		if got.OK || got.Message != tt.message || !strings.HasPrefix(got.Fix, tt.does) {
			t.Errorf("%s: %q, fix %q", name, got.Message, got.Fix)
		}
	}
}
