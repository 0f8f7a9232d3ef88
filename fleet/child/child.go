// Package child is a process of ralph-lsp's that works for a worker. It ends with its input, and when nothing comes there
// for the length of its lease.
package child

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// stopPatience is how long a child may take to end all that it has started.
const stopPatience = 20 * time.Second

// MaxWords is how many bytes of a program's last words are kept.
const MaxWords = 2 << 10

// Child is such a process. One that runs iterations stays behind each, for the next one.
type Child struct {
	cmd   *exec.Cmd
	args  []string // that all its iterations have
	input io.WriteCloser
	gone  chan struct{} // closed when it has ended, and all that it printed is read
	err   error         // how; for who has seen gone closed

	mu      sync.Mutex
	words   []byte            // the last ones of its stderr
	say     func(line []byte) // nil while it is left
	begun   bool              // its iteration has: that may cost something
	spent   float64           // dollars of its iteration, as far as that says
	said    wire.End          // the last update of an iteration; without a StopReason there was none
	left    chan struct{}     // closed when its iteration is over and the loop goes on: it may stay
	renewed time.Time
}

// GoesOn says of the end of an iteration that the loop has more to do.
func GoesOn(e wire.End) bool { return e.Reason == loop.StopOnce }

// Start starts ralph-lsp with first and args, which name its folder. say gets each line that it prints, until it is left.
func Start(program string, env, first, args []string, say func(line []byte)) (*Child, error) {
	c := &Child{cmd: outside.Command(context.Background(), program, slices.Concat(first, args)...), args: args, say: say,
		gone: make(chan struct{}), left: make(chan struct{}), renewed: time.Now()}
	c.cmd.Stderr, c.cmd.Env = (*words)(c), env
	var err error
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.gone)
		c.pass(out)
		c.err = c.cmd.Wait() // behind the last words: it closes the pipe
	}()
	return c, nil
}

// Fits says whether the child, which was left, would do what one with these args does, and is there for as long.
func (c *Child) Fits(args []string, lease time.Duration) bool {
	select {
	case <-c.gone:
		return false
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Equal(c.args, args) && time.Since(c.renewed) < lease/2
}

// Again has a child that was left run the next iteration.
func (c *Child) Again(say func(line []byte)) {
	c.mu.Lock()
	c.say, c.begun, c.spent, c.said, c.left = say, false, 0, wire.End{}, make(chan struct{})
	c.mu.Unlock()
	c.write("next\n")
}

// Renew tells the child that its lease goes on.
func (c *Child) Renew() { c.write("\n") }

func (c *Child) write(line string) {
	if _, err := io.WriteString(c.input, line); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.renewed = time.Now()
	}
}

// pass passes on what the child prints.
func (c *Child) pass(out io.Reader) {
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		c.mu.Lock()
		say := c.say
		c.mu.Unlock()
		if len(line) > 0 && say != nil {
			say(line)
			c.hear(line)
		}
		if err != nil {
			return
		}
	}
}

// hear takes note of how far it is.
func (c *Child) hear(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch wire.KindOf(line) {
	case wire.KindIteration:
		c.begun = true
		if end, isEnd := wire.Decode(line).(wire.IterationEnd); isEnd {
			c.spent += end.Cost.USD
		}
	case wire.KindEnd:
		c.said, _ = wire.Decode(line).(wire.End)
		if GoesOn(c.said) {
			c.say = nil
			close(c.left)
		}
	}
}

// Wait waits until the child has ended or was left. When ctx is done it has to end, with all that it has started.
func (c *Child) Wait(ctx context.Context) error {
	select {
	case <-c.gone:
		return c.err
	case <-c.left:
		return nil
	case <-ctx.Done():
		c.End()
		return c.err
	}
}

// End ends the child, with all that it has started.
func (c *Child) End() {
	c.input.Close()
	select {
	case <-c.gone:
	case <-time.After(stopPatience):
		c.cmd.Process.Kill() // its reaper ends the rest
		<-c.gone
	}
}

// Said is what it said last, and whether its iteration has begun.
func (c *Child) Said() (last wire.End, begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said, c.begun
}

// Spent is what its iteration has cost by itself, in dollars: 0 where the agent doesn't say.
func (c *Child) Spent() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

// Words are the last words of its stderr.
func (c *Child) Words() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(string(c.words))
}

// words are a child's stderr.
type words Child

// Write keeps the last words.
func (w *words) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words = append(w.words, data...)
	w.words = w.words[max(len(w.words)-MaxWords, 0):]
	return len(data), nil
}

// Left are children that were left, by their loops. The zero value has none.
type Left struct {
	mu  sync.Mutex
	all []left // the oldest first
}

type left struct {
	loop string
	*Child
}

// Keep keeps the child of a loop, and ends the oldest of more than so many.
func (l *Left) Keep(loop string, c *Child, most int) {
	l.mu.Lock()
	l.all = append(l.all, left{loop, c})
	old := l.all[:max(len(l.all)-most, 0)]
	l.all = slices.Clone(l.all[len(old):])
	l.mu.Unlock()
	for _, one := range old {
		one.Child.End()
	}
}

// Take gives the child of a loop away; nil when there is none.
func (l *Left) Take(loop string) *Child {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(one left) bool { return one.loop == loop })
	if i < 0 {
		return nil
	}
	c := l.all[i].Child
	l.all = slices.Delete(l.all, i, i+1)
	return c
}

// End ends all of them.
func (l *Left) End() {
	l.mu.Lock()
	all := l.all
	l.all = nil
	l.mu.Unlock()
	for _, one := range all {
		one.Child.End()
	}
}
