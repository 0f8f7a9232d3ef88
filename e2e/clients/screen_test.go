//go:build e2e

package clients

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// screen is a terminal in which an editor runs, as its user sees it.
type screen struct {
	t      *testing.T
	socket string
}

const shownWithin = proctest.Patience // what should be on the screen: only what hangs takes longer

// newScreen starts a program in a terminal of its own, in a folder. The test's end
// ends both, and checks that no process is left.
func newScreen(t *testing.T, dir string, environ []string, program string, args ...string) *screen {
	t.Helper()
	install(t, "tmux", "tmux")
	s := &screen{t, filepath.Join(testhome.Short(t), "tmux")}
	mark := "RALPH_CLIENTS_TEST=" + filepath.Base(s.socket) + "-" + t.TempDir()
	t.Cleanup(func() { proctest.CheckNone(t, goneWithin, mark) })
	proctest.AtEnd(t, "tmux", "-S", s.socket, "kill-server")
	cmd := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", program}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(environ, mark, "RALPH_EDITOR_GRACE=0s", "LANG=C.UTF-8", "TERM=screen-256color")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return s
}

// press types keys, by their names in tmux.
func (s *screen) press(keys ...string) {
	s.t.Helper()
	if out, err := exec.Command("tmux", append([]string{"-S", s.socket, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.t.Fatalf("tmux: %v\n%s", err, out)
	}
}

// shows waits until the screen has what is wanted, and returns all that it has.
func (s *screen) shows(want string) (text string) {
	s.t.Helper()
	wanted := regexp.MustCompile("(?m)" + want)
	for begun := time.Now(); time.Since(begun) < shownWithin; proctest.Pause(begun) {
		out, err := exec.Command("tmux", "-S", s.socket, "capture-pane", "-p").Output()
		if err != nil {
			s.t.Fatalf("the screen is gone, without %q; it showed\n%s", want, text)
		}
		if text = string(out); wanted.MatchString(text) {
			return text
		}
	}
	s.t.Fatalf("the screen never showed %q:\n%s", want, strings.TrimSpace(text))
	return ""
}
