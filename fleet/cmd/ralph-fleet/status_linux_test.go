package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

// openTerminal is a terminal, and what is seen on it.
func openTerminal(u user, width uint16) (screen, tty *os.File) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	u.must(err)
	u.Cleanup(func() { screen.Close() })
	u.must(unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	u.must(err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	u.must(err)
	u.must(unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}))
	return screen, tty
}

func TestTheTableFitsIntoATerminal(t *testing.T) {
	u := newUser(t)
	words := strings.Repeat("it says more than fits 世界 ", 8)
	u.submits(fleet.Record{Task: fleet.Task{Name: "one"}, Phase: fleet.Ended, StopReason: "promise", Text: words})
	u.says("status", "one ended 0 $0.00 "+words[:90]) // in a pipe nothing is cut

	screen, tty := openTerminal(u, 80)
	said := make(chan string)
	go func() {
		all, _ := io.ReadAll(screen) // it ends with an error when nobody has the terminal any more
		said <- string(all)
	}()
	code := execute(t.Context(), []string{"status", "--bus", u.url}, nil, tty, tty)
	u.must(tty.Close())
	lines := strings.Split(strings.ReplaceAll(<-said, "\r\n", "\n"), "\n")
	row := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "  one  ended  0  $0.00  it says more") })
	if code != 0 || row < 0 {
		t.Fatalf("%d: %q", code, lines)
	}
	if n := terminal.Cells(lines[row]); n < 79 || n > 80 || !strings.HasSuffix(lines[row], "…") {
		t.Errorf("a row of %d columns: %s", n, lines[row])
	}
}
