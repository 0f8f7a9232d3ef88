package fleet

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// stopPatience is how long a child may take to end all that it has started.
const stopPatience = 20 * time.Second

// goesOn is the exit code of a child whose loop has more to do.
const goesOn = 3

// child is a process that runs one iteration of a loop (ralph-lsp run --once). It ends
// with its input, and when nothing comes there for the length of its lease.
type child struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	tail  tail          // of what it says on stderr
	read  chan struct{} // closed when all that it printed is read

	mu    sync.Mutex
	begun bool // its iteration has: that may cost something
	said  ended
}

// ended is the last update of a child, of the wire's _ralph/end.
type ended struct {
	SessionUpdate string   `json:"sessionUpdate"`
	StopReason    string   `json:"stopReason"`
	Iterations    int      `json:"iterations"`
	CostUSD       *float64 `json:"costUsd"`
	Text          string   `json:"text"`
}

// startChild starts the next iteration, with walls around it or as its flags say. say gets each line that it prints.
func startChild(program, tree, promptFile string, r Record, lease time.Duration, walls bool, say func(line []byte)) (*child, error) {
	args := []string{"run", "--once", "--lease", lease.String(), "--output", "json", "-C", tree}
	if walls {
		args = append(args, inWalls)
	}
	if r.HasState {
		args = append(args, "--continue")
	} else {
		args = append(args, "--prompt-file", promptFile)
	}
	if limit := r.Limits().MaxCostUSD; limit > 0 && r.LostUSD > 0 { // it doesn't know of that
		args = append(slices.Concat(args, r.Flags, r.Changed), fmt.Sprintf("--max-cost=%.4f", limit-r.LostUSD))
		return spawn(program, tree, args, say)
	}
	return spawn(program, tree, slices.Concat(args, r.Flags, r.Changed), say)
}

// spawn starts ralph-lsp as a child. say gets each line that it prints.
func spawn(program, tree string, args []string, say func(line []byte)) (*child, error) {
	c := &child{cmd: exec.Command(program, args...), read: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stderr, c.cmd.Env = tree, &c.tail, environ(tree)
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
	go c.pass(out, say)
	return c, nil
}

// pass passes on what the child prints.
func (c *child) pass(out io.Reader, say func([]byte)) {
	defer close(c.read)
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.hear(line)
			say(line)
		}
		if err != nil {
			return
		}
	}
}

// hear takes note of how far it is.
func (c *child) hear(line []byte) {
	head := string(line[:min(len(line), 200)])
	c.mu.Lock()
	defer c.mu.Unlock()
	var last ended
	switch {
	case strings.Contains(head, `"`+wire.KindIteration+`"`):
		c.begun = true
	case strings.Contains(head, wire.KindEnd) && json.Unmarshal(line, &last) == nil && last.SessionUpdate == wire.KindEnd:
		c.said = last
	}
}

// holds lets beat renew the child's lease.
func (c *child) holds(ctx context.Context, beat chan<- func()) {
	select {
	case beat <- c.renew:
	case <-ctx.Done():
	}
}

// renew tells the child that its lease goes on.
func (c *child) renew() { c.input.Write([]byte("\n")) }

// wait waits for its end. When ctx is done it has to end, with all that it has started.
func (c *child) wait(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		<-c.read // its last words would be lost: Wait closes the pipe
		done <- c.cmd.Wait()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	c.input.Close()
	select {
	case err := <-done:
		return err
	case <-time.After(stopPatience):
		c.cmd.Process.Kill() // its reaper ends the rest
		return <-done
	}
}

// outcome says what the child came to: by its exit, its last words, and the state that it left. What it
// has cost is said with an error too.
func (c *child) outcome(exit error, tree string) (o Outcome, limited bool, err error) {
	c.mu.Lock()
	said := c.said
	o.CostOpen = c.begun
	c.mu.Unlock()
	code := c.cmd.ProcessState.ExitCode()
	if said.StopReason == "" {
		return o, false, fmt.Errorf("%s (it ended with %d, %v, and didn't say how its loop stands)", cmp.Or(c.tail.text(), "ralph-lsp said nothing"), code, exit)
	}
	if o.CostOpen = said.CostUSD == nil; !o.CostOpen {
		o.CostUSD = *said.CostUSD
	}
	if loop.StopReason(said.StopReason).Ending().OfMachine {
		return o, false, errors.New(cmp.Or(said.Text, said.StopReason))
	}
	o.Iterations, o.Text = said.Iterations, said.Text
	state, err := readState(tree)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it is over, or never began
		if said.StopReason != "interrupted" {
			o.StopReason = said.StopReason
		}
		return o, false, nil
	case err != nil:
		return o, false, err
	}
	o.HasState, o.Agent = true, state.Backend
	switch {
	case code == goesOn:
		o.Paused, o.ResumeAt = !state.Active, state.ResumeAt
		limited = state.InARow.RateLimits > 0
	case said.StopReason == "interrupted":
	default: // it failed: who mends that can go on with its state
		o.StopReason = said.StopReason
	}
	return o, limited, nil
}

func readState(tree string) (loopstate.State, error) {
	file, err := loopstate.Open(tree)
	if err != nil {
		return loopstate.State{}, err
	}
	return file.Load()
}

// listener tells the loop in a checkout what its user wants it to know, in the
// order in which it was said.
type listener struct {
	mu     sync.Mutex
	tree   string // "": no time to tell it
	wanted []string
	told   int // pieces of wanted that its state has
}

// begin lets the loop in a checkout be told things. One that was handed on knows before it begins.
func (l *listener) begin(tree string, wanted []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tree = tree
	if len(wanted) > len(l.wanted) {
		l.wanted = wanted
	}
	if l.told >= len(l.wanted) {
		return
	}
	file, err := loopstate.Open(tree)
	if err != nil {
		return
	}
	_, err = file.HandOn(func(s *loopstate.State) error {
		s.Guidance = append(s.Guidance, l.wanted[l.told:]...)
		return nil
	})
	if err == nil {
		l.told = len(l.wanted)
	}
}

// hear takes note of what it is to know; the first pieces are those that it has been told.
func (l *listener) hear(wanted []string) {
	l.mu.Lock()
	l.wanted = wanted
	l.mu.Unlock()
	l.tell()
}

// tell tells the loop what it doesn't know yet, aside. One that doesn't run will hear of it when it
// prints something, or is over.
func (l *listener) tell() {
	if !l.mu.TryLock() {
		return // it is being told
	}
	if l.tree == "" || l.told >= len(l.wanted) {
		l.mu.Unlock()
		return
	}
	go func() {
		defer l.mu.Unlock()
		for l.told < len(l.wanted) {
			if _, err := (loop.Other{Folder: l.tree}).Steer(loop.Steering{Text: l.wanted[l.told], Once: true}); err != nil {
				return
			}
			l.told++
		}
	}()
}

// end ends that, and says how many pieces the loop's state has.
func (l *listener) end() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tree = ""
	return l.told
}

// tail keeps the last words of a program.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, data...)
	t.kept = t.kept[max(len(t.kept)-maxSetupWords, 0):]
	return len(data), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
