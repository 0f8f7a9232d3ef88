//go:build unix

package backends

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func init() {
	// interactive does what its user types, a word on each line, in a terminal
	// that it makes raw, as agents do.
	roles["interactive"] = func() {
		if _, err := term.MakeRaw(0); err != nil {
			panic(err)
		}
		resized := make(chan os.Signal, 1)
		signal.Notify(resized, syscall.SIGWINCH)
		tellSize := func() {
			rows, cols, err := pty.Getsize(os.Stdin)
			fmt.Print("size ", rows, "x", cols, " ", err, "\r\n")
		}
		fmt.Printf("args %q TERM=%s\r\n", os.Args[1:], os.Getenv("TERM"))
		tellSize()
		words := bufio.NewReader(os.Stdin)
		for {
			word, err := words.ReadString('\r')
			if err != nil {
				os.Exit(9)
			}
			switch strings.TrimSpace(word) {
			case "resized?":
				<-resized
				tellSize()
			case "detach":
				spawn("deaf sleeper", nil)
				fmt.Print("detached\r\n")
			case "\x03":
				fmt.Print("Ctrl-C is mine\r\n")
			case "die":
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case "deaf":
				signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
				fmt.Print("deaf now\r\n")
			case "exit":
				os.Exit(7)
			}
		}
	}
}

// session is a Interactive in a terminal that the test sits at.
type session struct {
	t      *testing.T
	user   *os.File // the test's end
	theirs *os.File // what the Interactive takes for its terminal
	scope  *Scope
	before term.State
	seen   strings.Builder
	lines  chan string
	exit   chan InteractiveExit
}

// sit starts a session with a role, at a terminal of 40 x 100.
func sit(t *testing.T, role string, argv ...string) *session {
	t.Helper()
	t.Setenv("ROLE", role)
	t.Setenv("TERM", "xterm-256color")
	user, theirs, err := pty.Open()
	must.OK(t, err)
	s := &session{t: t, scope: newScope(t), user: user, theirs: theirs, lines: make(chan string, 100), exit: make(chan InteractiveExit, 1)}
	s.resize(40, 100)
	before, err := term.GetState(int(theirs.Fd()))
	must.OK(t, err)
	s.before = *before
	t.Cleanup(func() {
		theirs.Close()
		user.Close()
	})
	go func() {
		scan := bufio.NewScanner(user)
		for scan.Scan() {
			s.lines <- scan.Text()
		}
		close(s.lines)
	}()
	ui := Interactive{Backend: Backend{Name: "fake"}, Argv: append([]string{os.Args[0]}, argv...), Dir: t.TempDir(), Scope: s.scope}
	go func() {
		exit, err := ui.Run(theirs, theirs)
		if err != nil {
			t.Error(err)
		}
		s.exit <- exit
	}()
	return s
}

func (s *session) resize(rows, cols uint16) {
	must.OK(s.t, pty.Setsize(s.user, &pty.Winsize{Rows: rows, Cols: cols}))
}

func (s *session) types(text string) {
	must.OK(s.t, must.Err(s.user.WriteString(text+"\r")))
}

// sees waits for a line that the user sees.
func (s *session) sees(want string) {
	s.t.Helper()
	for deadline := time.After(hangs); ; {
		select {
		case line, ok := <-s.lines:
			s.seen.WriteString(line + "\n")
			if !ok {
				s.t.Fatalf("the end, but never %q in %q", want, s.seen.String())
			}
			if strings.Contains(line, want) {
				return
			}
		case <-deadline:
			s.t.Fatalf("no %q in %q", want, s.seen.String())
		}
	}
}

// ends waits for the session's end, and checks that it leaves nothing.
func (s *session) ends() InteractiveExit {
	s.t.Helper()
	select {
	case exit := <-s.exit:
		after, err := term.GetState(int(s.theirs.Fd()))
		if err != nil || *after != s.before {
			s.t.Errorf("the terminal isn't as it was: %v, %v", after, err)
		}
		if left := proctest.Find(EnvLoopID + "=" + s.scope.LoopID); len(left) > 0 {
			s.t.Errorf("left behind: %v", left)
		}
		return exit
	case <-time.After(hangs):
		s.t.Fatal("the session doesn't end")
		return InteractiveExit{}
	}
}

func TestTheInterfaceIsTheAgentsOwnTerminal(t *testing.T) {
	s := sit(t, "interactive", "--no-session", "the prompt")
	s.sees(`args ["--no-session" "the prompt"] TERM=xterm-256color`)
	s.sees("size 40x100")
	s.types("\x03")
	s.sees("Ctrl-C is mine")
	s.resize(50, 132)
	syscall.Kill(os.Getpid(), syscall.SIGWINCH) // the kernel tells only whose controlling terminal it is
	s.types("resized?")
	s.sees("size 50x132")
	s.types("detach")
	s.sees("detached")
	s.types("exit")
	if exit := s.ends(); exit.Code != 7 || exit.Signal != "" || exit.Survivor != nil {
		t.Errorf("got %+v", exit)
	}
}

func TestAnAgentThatIsKilledLeavesTheTerminalAsItWas(t *testing.T) {
	s := sit(t, "interactive")
	s.sees("size")
	s.types("die")
	s.sees("\x1b[?25h")
	if exit := s.ends(); exit.Number != int(syscall.SIGKILL) || exit.Code != -1 {
		t.Errorf("got %+v", exit)
	}
}

func TestAnInterfaceThatIsToEndEnds(t *testing.T) {
	s := sit(t, "interactive")
	s.sees("size")
	s.types("deaf")
	s.sees("deaf now")
	begin := time.Now()
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	if exit := s.ends(); exit.Number != int(syscall.SIGKILL) {
		t.Errorf("got %+v", exit)
	}
	if took := time.Since(begin); took < Grace || took > Grace+hangs {
		t.Errorf("it took %v", took)
	}
}

func TestAnInterfaceWithoutItsProgram(t *testing.T) {
	user, theirs, err := pty.Open()
	must.OK(t, err)
	defer user.Close()
	defer theirs.Close()
	before, err := term.GetState(int(theirs.Fd()))
	must.OK(t, err)
	_, err = Interactive{Backend: Backend{Name: "gone"}, Argv: []string{"/no/such/agent"}, Dir: t.TempDir(), Scope: newScope(t)}.Run(theirs, theirs)
	if err == nil || !strings.Contains(err.Error(), "starting gone in the terminal") {
		t.Errorf("got %v", err)
	}
	if after, err := term.GetState(int(theirs.Fd())); err != nil || *after != *before {
		t.Errorf("the terminal isn't as it was: %v, %v", after, err)
	}
}
