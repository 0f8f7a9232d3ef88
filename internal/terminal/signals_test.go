package terminal

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// calls records what signals do to a loop.
type calls struct{ made chan string }

func (c calls) Kill()      { c.made <- "kill" }
func (c calls) Close()     { c.made <- "close" }
func (c calls) Interrupt() { c.made <- "interrupt" }

func TestSignals(t *testing.T) {
	tests := []struct {
		name   string
		caught []os.Signal
		want   []string
		giveUp bool
	}{
		{"Ctrl-C interrupts", []os.Signal{os.Interrupt}, []string{"interrupt", "note"}, false},
		{"the second one kills", []os.Signal{os.Interrupt, os.Interrupt}, []string{"interrupt", "kill", "note"}, true},
		{"the third one ends the program", []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt}, []string{"force", "interrupt", "kill", "note"}, true},
		{"and a fourth changes nothing", []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt, os.Interrupt}, []string{"force", "interrupt", "kill", "note"}, true},
		{"the terminal goes away", []os.Signal{syscall.SIGHUP}, []string{"close"}, false},
		{"and says so twice", []os.Signal{syscall.SIGHUP, syscall.SIGHUP}, []string{"close", "close"}, false},
		{"the system shuts down", []os.Signal{syscall.SIGTERM}, []string{"interrupt"}, false},
		{"and doesn't wait", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, []string{"interrupt", "kill"}, true},
		{"Ctrl-C after SIGTERM", []os.Signal{syscall.SIGTERM, os.Interrupt}, []string{"interrupt", "kill"}, true},
		{"a broken pipe shows at the write", []os.Signal{syscall.SIGPIPE}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caught, done := make(chan os.Signal, 8), make(chan struct{})
				l := calls{make(chan string, 8)}
				giveUp := AnswerSignals(caught, nil, done, l, func(string) { l.made <- "note" }, func() { l.made <- "force" })
				for _, sig := range tt.caught {
					caught <- sig
				}
				synctest.Wait()
				close(l.made)
				got := slices.Sorted(drained(l.made))
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				select {
				case <-giveUp:
					if !tt.giveUp {
						t.Error("the terminal was given up")
					}
				default:
					if tt.giveUp {
						t.Error("the terminal was not given up")
					}
				}
				close(done)
			})
		})
	}
}

// Who doesn't obey in time is ended by force.
func TestALoopThatDoesNotEnd(t *testing.T) {
	for _, tt := range []struct {
		caught []os.Signal
		within time.Duration
	}{
		{[]os.Signal{os.Interrupt}, endLimit},
		{[]os.Signal{syscall.SIGTERM}, endLimit},
		{[]os.Signal{syscall.SIGTERM, os.Interrupt}, killLimit},
		{[]os.Signal{syscall.SIGHUP}, hangUpLimit},
		{[]os.Signal{syscall.SIGHUP, syscall.SIGHUP}, hangUpLimit},
		{[]os.Signal{syscall.SIGHUP, syscall.SIGTERM}, endLimit},
		{[]os.Signal{syscall.SIGTERM, syscall.SIGHUP}, endLimit},
	} {
		synctest.Test(t, func(t *testing.T) {
			caught, done, forced := make(chan os.Signal), make(chan struct{}), make(chan time.Duration, 1)
			begun := time.Now()
			AnswerSignals(caught, nil, done, calls{make(chan string, 8)}, func(string) {}, func() { forced <- time.Since(begun) })
			for _, sig := range tt.caught {
				caught <- sig
			}
			if took := <-forced; took != tt.within {
				t.Errorf("%v: by force after %v, want %v", tt.caught, took, tt.within)
			}
			close(done)
		})
	}
}

func drained(c <-chan string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for s := range c {
			if !yield(s) {
				return
			}
		}
	}
}

type brokenPipe struct{ writes int }

func (b *brokenPipe) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("broken pipe")
}

func TestBrokenOutputInterruptsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := &brokenPipe{}
		out := Checked(pipe)
		done := make(chan struct{})
		l := calls{make(chan string, 8)}
		AnswerSignals(make(chan os.Signal), out.Broken, done, l, func(string) {}, func() {})
		for range 3 {
			if _, err := out.Write([]byte("text")); err == nil || err.Error() != "broken pipe" {
				t.Errorf("Write: %v", err)
			}
		}
		synctest.Wait()
		close(l.made)
		if got := strings.Join(slices.Collect(drained(l.made)), " "); got != "close" || pipe.writes != 1 {
			t.Errorf("got %q after %d writes", got, pipe.writes)
		}
		close(done)
	})
}
