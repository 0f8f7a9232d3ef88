//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// patience bounds every wait for a real process; reaching it fails the test.
const patience = proctest.Patience

// never is a model's silence (ms) in which the loop has to be ended.
const never = 2 * int(patience/time.Millisecond)

// update is a line of "ralph-lsp run --output json", as far as tests read it.
type update struct {
	SessionUpdate string    `json:"sessionUpdate"`
	ID            string    `json:"id"`
	LoopID        string    `json:"loopId"`
	Iteration     int       `json:"iteration"`
	Time          time.Time `json:"time"`
	Phase         string    `json:"phase"`
	Outcome       string    `json:"outcome"`
	Hat           string    `json:"hat"`
	Topic         string    `json:"topic"`
	CostUSD       *float64  `json:"costUsd"`
	Status        string    `json:"status"`
	Matched       bool      `json:"matched"`
	Found         string    `json:"found"`
	Expected      string    `json:"expected"`
	Message       string    `json:"message"`
	StopReason    string    `json:"stopReason"`
	Promise       string    `json:"promise"`
	Iterations    int       `json:"iterations"`
	Error         string    `json:"error"`
	Gate          string    `json:"gate"`
	State         string    `json:"state"`
	Parent        string    `json:"parentToolCallId"`

	line string // all of it, to show
}

// program is a "ralph-lsp run" that a test has started.
type program struct {
	agent agent
	box   *agents.Sandbox
	model *fakemodel.Server
	mark  string // in the environment of every process that comes from it

	t      *testing.T
	cmd    *exec.Cmd
	exited chan struct{}

	mu      sync.Mutex
	updates []update      // guarded by mu
	changed chan struct{} // closed and replaced with each update; guarded by mu
	stderr  bytes.Buffer  // read it only after exited
}

// prepare makes a sandbox and a model for a run, in which other agents are installed too.
func prepare(t *testing.T, a agent, script fakemodel.Script, others ...agent) *program {
	t.Helper()
	model := fakemodel.New(t, script)
	pins := []agents.Pin{a.pin}
	for _, other := range others {
		pins = append(pins, other.pin)
	}
	p := &program{
		agent: a, model: model, t: t, exited: make(chan struct{}), changed: make(chan struct{}),
		box:  agents.NewSandbox(t, installed, model.URL, pins...),
		mark: fmt.Sprintf("RALPH_E2E=%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), time.Now().UnixNano()),
	}
	name, value, _ := strings.Cut(p.mark, "=")
	p.box.Setenv(name, value)
	return p
}

// start begins a loop with the given arguments of "run", prompt included.
func (p *program) start(args ...string) {
	p.t.Helper()
	argv := []string{"run", "--output", "json", "-C", p.box.Dir}
	if p.agent.backend != "" {
		argv = append(argv, "--backend", p.agent.backend)
	}
	for _, arg := range p.agent.args {
		argv = append(argv, "--backend-arg", arg)
	}
	p.cmd = p.box.Command(context.Background(), ralph, append(argv, args...)...)
	p.cmd.Dir = p.box.Home // so that only -C says where the loop is
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	must.OK(p.t, err)
	must.OK(p.t, p.cmd.Start())
	p.t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
		proctest.Kill(p.t, p.mark)
	})
	go func() {
		defer close(p.exited)
		p.read(bufio.NewReader(stdout))
		p.cmd.Wait() // its error is the exit code, which tests look at
	}()
}

// read collects the updates up to the end of the program's output.
func (p *program) read(stdout *bufio.Reader) {
	for {
		line, err := stdout.ReadBytes('\n')
		if len(line) > 0 {
			var u update
			if err := json.Unmarshal(line, &u); err != nil {
				p.t.Errorf("stdout has %q: %v", line, err)
			}
			u.line = string(bytes.TrimSpace(line))
			p.mu.Lock()
			p.updates = append(p.updates, u)
			close(p.changed)
			p.changed = make(chan struct{})
			p.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// all returns the updates so far.
func (p *program) all() []update {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.updates)
}

// await waits for an update for which ok holds.
func (p *program) await(what string, ok func(update) bool) update {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		p.mu.Lock()
		changed := p.changed
		i := slices.IndexFunc(p.updates, ok)
		if i >= 0 {
			defer p.mu.Unlock()
			return p.updates[i]
		}
		p.mu.Unlock()
		select {
		case <-changed:
		case <-p.exited:
			p.fatalf("ended before %s", what)
		case <-timeout:
			p.fatalf("no %s after %s", what, patience)
		}
	}
}

// wait waits for the program's end and returns its exit code; -1 stands for a
// signal.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.fatalf("still running after %s", patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// end returns the loop's last update, which must be its end.
func (p *program) end() update {
	p.t.Helper()
	updates := p.all()
	if len(updates) == 0 || updates[len(updates)-1].SessionUpdate != "_ralph/end" {
		p.fatalf("the last update is no _ralph/end")
	}
	return updates[len(updates)-1]
}

// outcomes returns how the iterations went.
func (p *program) outcomes() []string {
	var out []string
	for _, u := range p.all() {
		if u.SessionUpdate == "_ralph/iteration" && u.Phase == "end" {
			out = append(out, u.Outcome)
		}
	}
	return out
}

// has says whether there is an update for which ok holds.
func (p *program) has(ok func(update) bool) bool { return slices.ContainsFunc(p.all(), ok) }

// fatalf fails the test and shows what the program did.
func (p *program) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf(format, args...)
	p.show()
	p.t.FailNow()
}

// show logs what the program printed and asked, for the reader of a failure.
func (p *program) show() {
	p.t.Helper()
	for _, u := range p.all() {
		p.t.Logf("update: %.400s", u.line)
	}
	for _, r := range p.model.Requests() {
		p.t.Logf("request: %s %s turn %d, outcome %q", r.Path, r.Kind, r.Turn, r.Outcome)
	}
	select {
	case <-p.exited:
		p.t.Logf("exit code %d, stderr: %s", p.cmd.ProcessState.ExitCode(), p.stderr.String())
	default:
		p.t.Log("still running")
	}
}

// stateFile is the loop's state file.
func (p *program) stateFile() string {
	return filepath.Join(p.box.Dir, ".pi", "ralph-loop.local.md")
}

// ralphCommand runs another ralph-lsp command, such as cancel, in the loop's
// folder.
func (p *program) ralphCommand(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := p.box.Command(ctx, ralph, args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("ralph-lsp %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return err
}
