//go:build unix

package backends

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// textOnPTY makes the agent one of those that print text on a terminal.
func textOnPTY(s *Spec) {
	s.Backend = Custom(s.Backend.Command, nil, PromptStdin, decode.FormatText)
	s.Backend.PTY = true
}

func TestTheTerminalOfATextAgent(t *testing.T) {
	p, _ := startRole(t, "tells its terminal", textOnPTY, func(s *Spec) {
		s.Env = append(s.Env, "TERM=xterm-256color")
	})
	if got, want := p.Wait().Result.Text, "{Rows:50 Cols:32000 X:0 Y:0} <nil>, controlling: false, TERM=dumb"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTextFromATerminal(t *testing.T) {
	const promptSize = 100_000
	p, _ := startRole(t, "writes as on a terminal", textOnPTY, func(s *Spec) {
		s.Prompt = strings.Repeat("never echoed\n", promptSize/13)
	})
	exit := p.Wait()
	want := "Thinking 100%\n99996 bytes of prompt\n" + strings.Repeat("a", 20_000) + "b\ngrün, 日本\nLOOP_COMPLETE"
	if got := exit.Result.Text; got != want {
		t.Errorf("got %.200q", strings.ReplaceAll(got, strings.Repeat("a", 20_000), "(aaa)"))
	}
	if exit.Stderr != "spent 3 credits" || exit.ReadErr != nil || exit.Code != 0 {
		t.Errorf("stderr %q, reading %v, code %d", exit.Stderr, exit.ReadErr, exit.Code)
	}
	if v := (promises.Completion{}).Judge(exit.Result); !v.Matched {
		t.Errorf("not complete: %+v", v)
	}
}

func TestErrorOutputIsActivityToo(t *testing.T) {
	active := make(chan struct{}, 100)
	p, _ := startRole(t, "fails", func(s *Spec) {
		s.OnOutput = func() {
			select {
			case active <- struct{}{}:
			default:
			}
		}
	})
	p.Wait()
	if len(active) == 0 {
		t.Error("an agent that writes to stderr only counts as silent")
	}
}

// A writer that nobody can find or end must not hold the run.
func TestReadingATerminalCanBeGivenUp(t *testing.T) {
	ours, theirs, err := openPTY()
	must.OK(t, err)
	defer theirs.Close()
	defer ours.Close()
	giveUpReading(t, ours)
}

func TestReadingAPipeCanBeGivenUp(t *testing.T) {
	out, agent, err := Backend{}.openOutput()
	must.OK(t, err)
	defer agent.Close()
	giveUpReading(t, out)
	out.Close()
	if _, err := agent.WriteString("x"); err == nil {
		t.Error("the pipe is still open")
	}
	if _, err := out.Read(make([]byte, 1)); err == nil {
		t.Error("it can be read after its end")
	}
}

// giveUpReading wants a read that waits to end at a deadline.
func giveUpReading(t *testing.T, from interface {
	io.Reader
	SetReadDeadline(time.Time) error
}) {
	t.Helper()
	read := make(chan error)
	go func() {
		_, err := from.Read(make([]byte, 1))
		read <- err
	}()
	must.OK(t, from.SetReadDeadline(time.Unix(1, 0)))
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
