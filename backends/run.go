package backends

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

const (
	// Grace is how long an agent has to end after its first stop signal.
	Grace = 2 * time.Second
	// QuickGrace is the same when the editor or terminal goes away.
	QuickGrace = 300 * time.Millisecond
	// strayGrace is how long processes that an agent left behind have after
	// SIGTERM; a server that a tool started may have files to close.
	strayGrace = 200 * time.Millisecond
	// drainLimit bounds the wait for the end of output once all writers that
	// could be found are dead.
	drainLimit = time.Second
)

// lingerLimit is how long an agent may stay after it said that it was done, or
// closed its output.
var lingerLimit = 10 * time.Second

// Spec is one run of an agent.
type Spec struct {
	Backend Backend
	Ours    []string // arguments of the driver's
	Args    []string // arguments of the user's, behind ours
	Prompt  string
	Dir     string   // working directory
	Own     string   // a folder that is for this run, which may write there whatever the walls are around; "": none
	Env     []string // the parent's environment; nil is this process's

	Scope     *Scope // of the loop
	Iteration int
	Outbox    string // where its programs publish, see EnvOutbox; "" is nowhere

	Handler stream.Handler // sees the events, on a goroutine of the run's
	Rest    func()         // called when Handler has all that came so far, on the same goroutine; may be nil
	// Ask hands a question of the agent's on, with what answers it: false when that is too
	// late. Called on Handler's goroutine; nil: nobody is there to be asked. A stream.Withdrawn
	// takes a question back.
	Ask      func(q stream.Question, answer func(Answer) bool)
	OnOutput func()    // whenever output came, on stderr too, for idle timers; may be nil; called on several goroutines
	Record   io.Writer // gets a copy of the raw output; may be nil
	Raw      io.Writer // takes stdout and stderr as they are, and nobody looks for events in them; nil for an agent

	dialect *dialect // of an agent that is talked to; Start sets it
}

// Exit is how a run ended.
type Exit struct {
	Result   stream.Result // the result of the stream
	Code     int           // exit code; -1 when a signal ended it
	Signal   string        // the signal's name, or ""
	Stderr   string        // the last 8 KiB
	Duration time.Duration
	Stopped  bool  // Stop was called before it ended by itself
	Lingered bool  // it was done, didn't leave, and was ended
	Strays   int   // processes it left behind, which were ended
	Survivor error // non-nil: something could not be ended
	ReadErr  error // reading its output failed
}

// Process is a running agent. It ends by itself or by Stop; Wait tells how.
type Process struct {
	spec    Spec
	child   *child
	started time.Time
	stdout  *os.File
	read    atomic.Int64 // reads of stdout so far: does output still come?
	stderr  tail

	in      *input
	talk    talk
	stop    chan time.Duration // graces; the shortest counts
	abort   chan time.Duration // the agent was asked to end, within that
	linger  chan bool          // the decoder's Done, when it changes
	drained chan struct{}      // closed when its output was read to the end
	done    chan struct{}      // closed when all is over and exit is set
	exit    Exit
	pumped  stream.Result
	readErr error
}

// Start starts an agent. Errors are a *NotFoundError when its program is
// missing, else what the system said. The caller must Wait.
func Start(spec Spec) (*Process, error) {
	path, err := spec.Backend.Find()
	if err != nil {
		return nil, err
	}
	if spec.Backend.Prompt == PromptLive {
		spec.dialect = spec.Backend.Live.open(spec.Dir)
	}
	prompt, stdin, err := spec.placePrompt()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Backend.Name, err)
	}
	if spec.Env == nil {
		spec.Env = os.Environ()
	}
	p := &Process{
		spec:    spec,
		stop:    make(chan time.Duration, 8),
		abort:   make(chan time.Duration, 1),
		linger:  make(chan bool, 1),
		drained: make(chan struct{}),
		done:    make(chan struct{}),
	}
	spec.Scope.keepCaches(spec.Backend.Kept)
	cmd := exec.Command(path, append(spec.Backend.Argv(spec.Ours, spec.Args), prompt...)...)
	cmd.Dir = spec.Dir
	cmd.Env = append(environ(spec.Env, spec), "PWD="+spec.Dir)
	if err := p.start(cmd, stdin); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Backend.Name, err)
	}
	return p, nil
}

// sandboxRun is what the run needs there.
func (s Spec) sandboxRun() sandbox.Run {
	run := sandbox.Run{Agent: s.Backend.inside(), IsCheck: s.Raw != nil, Caches: s.Backend.Kept}
	if s.Outbox != "" {
		run.Writable = append(run.Writable, s.Outbox)
	}
	if s.Own != "" {
		run.Writable = append(run.Writable, s.Own)
	}
	if s.Backend.Prompt == PromptFile {
		run.Readable = []string{s.promptFile()}
	}
	return run
}

// promptFile is where the prompt of a backend is that takes a file.
func (s Spec) promptFile() string {
	return filepath.Join(s.Scope.TempDir, fmt.Sprintf("prompt-%d.md", s.Iteration))
}

// placePrompt puts the prompt where the backend wants it: behind the
// arguments, in a file of the run's, or on stdin.
func (s Spec) placePrompt() (args []string, stdin string, err error) {
	switch s.Backend.Prompt {
	case PromptArg:
		if i := strings.IndexByte(s.Prompt, 0); i >= 0 {
			return nil, "", fmt.Errorf("the prompt has a NUL byte (at byte %d), which no argument can have: take it out, or let "+
				"the prompt go in by stdin or file", i)
		}
		if len(s.Prompt) > MaxArg {
			return nil, "", fmt.Errorf("a prompt of %d bytes is too long for an argument (limit %d): let the prompt go in by "+
				"stdin or file", len(s.Prompt), MaxArg)
		}
		return s.Backend.argument(s.Prompt), "", nil
	case PromptFile:
		name := s.promptFile()
		return []string{name}, "", regular.Write(name, []byte(s.Prompt), 0o600)
	}
	prompt := s.Prompt
	if s.Backend.SlashCommands && strings.HasPrefix(prompt, "/") {
		prompt = "\n" + prompt
	}
	if s.Backend.Prompt == PromptLive {
		return nil, string(frame(s.dialect.Prompt(newUUID(), prompt))), nil
	}
	return nil, prompt, nil
}

// start starts the process, and the goroutines that feed and read it.
func (p *Process) start(cmd *exec.Cmd, prompt string) (err error) {
	var pipes [3]struct{ r, w *os.File }
	closeAll := func() {
		for _, pipe := range pipes {
			pipe.r.Close() // a nil *os.File only returns an error
			pipe.w.Close()
		}
	}
	opens := [...]func() (r, w *os.File, err error){os.Pipe, p.spec.Backend.openOutput, os.Pipe}
	for i, open := range opens {
		if pipes[i].r, pipes[i].w, err = open(); err != nil {
			closeAll()
			return err
		}
	}
	in, out, errs := pipes[0], pipes[1], pipes[2]
	p.stdout = out.r
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in.r, out.w, errs.w
	if p.spec.Raw != nil {
		cmd.Stderr = out.w // in the order in which it comes
	}
	p.started = time.Now()
	if p.child, err = p.spec.Scope.start(cmd, p.spec.sandboxRun(), p.spec.Backend.PTY); err != nil {
		closeAll()
		return err
	}
	in.r.Close()
	out.w.Close()
	errs.w.Close()

	p.in = newInput(in.w, []byte(prompt))
	if p.live() == nil {
		p.in.finish()
	}
	stderrDone := make(chan struct{})
	go func() {
		io.CopyBuffer(writerFunc(func(b []byte) (int, error) {
			p.active()
			return p.stderr.Write(b)
		}), struct{ io.Reader }{errs.r}, make([]byte, tailSize))
		close(stderrDone)
	}()
	go p.pump()
	go func() {
		p.supervise()
		p.in.close()
		past := time.Unix(1, 0) // other holders of the pipes aren't waited for
		in.w.SetWriteDeadline(past)
		errs.r.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		<-stderrDone
		p.stdout.Close()
		errs.r.Close()
		p.finish()
	}()
	return nil
}

// pump reads the agent's output to its end.
func (p *Process) pump() {
	defer close(p.drained)
	if p.spec.Raw != nil {
		io.Copy(p.spec.Raw, readerFunc(p.readOutput))
		return
	}
	var wasDone bool
	handler := p.spec.Handler
	if p.live() != nil {
		handler = p
	}
	reader := decode.Reader{Format: p.spec.Backend.Output, Handler: handler, Rest: p.spec.Rest, OnLine: func(done bool) {
		if done = done || p.talk.failure != ""; done != wasDone {
			wasDone = done
			select { // only the newest matters
			case <-p.linger:
			default:
			}
			p.linger <- done
		}
	}}
	p.pumped, p.readErr = reader.Run(readerFunc(p.readOutput))
	if errors.Is(p.readErr, os.ErrDeadlineExceeded) {
		p.readErr = nil // our own way to end it
	}
}

// readOutput reads what is there of stdout.
func (p *Process) readOutput(b []byte) (int, error) {
	p.read.Add(1)
	n, err := p.stdout.Read(b)
	if n > 0 {
		p.active()
	}
	if n > 0 && p.spec.Record != nil {
		p.spec.Record.Write(b[:n]) // a full disk must not end the run
	}
	return n, endOfOutput(err)
}

// active reports that the agent wrote something.
func (p *Process) active() {
	if p.spec.OnOutput != nil {
		p.spec.OnOutput()
	}
}

// supervise waits for the agent's end, or brings it about, and then ends
// everything that the agent left behind.
func (p *Process) supervise() {
	var lingering, aborting <-chan time.Time
	drained := p.drained
	for {
		select {
		case <-p.child.exited:
			p.exit.Stopped = p.exit.Stopped || len(p.abort) > 0 // it was faster than this
			p.sweep()
			return
		case grace := <-p.stop:
			p.exit.Stopped = true
			p.end(grace)
			return
		case grace := <-p.abort:
			p.exit.Stopped = true
			aborting = time.After(grace)
		case <-aborting: // it didn't
			p.end(Grace)
			return
		case done := <-p.linger:
			// An agent that goes on after all (it was told something) has all of its time again once it is done. One whose
			// output is closed can't say so any more: its time begins now.
			lingering = nil
			if done || drained == nil {
				p.hangUp()
				lingering = time.After(lingerLimit)
			}
		case <-lingering:
			p.exit.Lingered = true
			p.end(Grace)
			return
		case <-drained: // nothing more can come of it
			drained = nil
			p.hangUp()
			if lingering == nil && p.spec.Raw == nil {
				lingering = time.After(lingerLimit)
			}
		}
	}
}

// sweep ends what the agent, which has exited, left running, and waits until
// its output is read.
func (p *Process) sweep() {
	p.exit.Strays, p.exit.Survivor = p.child.sweep(strayGrace)
	p.drain()
}

// kill ends every process of the run by force, and waits for the end of output.
func (p *Process) kill() {
	_, p.exit.Survivor = p.child.sweep(0)
	<-p.child.exited
	p.drain()
}

// drain waits for the end of the output of agents that are all gone.
func (p *Process) drain() {
	for read := int64(-1); ; { // the end of output is near unless a stranger holds the pipe
		select {
		case <-p.drained:
			return
		case <-time.After(drainLimit):
		}
		if now := p.read.Load(); now != read {
			read = now
			continue
		}
		p.stdout.SetReadDeadline(time.Unix(1, 0))
	}
}

// end brings a running agent to its end: its own signals first, spread over
// the grace, then force. A later, shorter grace replaces the first.
func (p *Process) end(grace time.Duration) {
	deadline := time.Now().Add(grace)
	signals := []os.Signal{terminate}
	if p.spec.Backend.Interrupt && grace > QuickGrace { // else there is no time for a closing word
		signals = []os.Signal{os.Interrupt, terminate}
	}
	for i := 0; ; i++ {
		wait := time.Until(deadline)
		if i < len(signals) && wait > 0 {
			p.child.signal(signals[i])
			if i < len(signals)-1 {
				wait = wait * 9 / 10 // the first signal is the one that ends it well
			}
		}
		if wait <= 0 {
			p.kill()
			return
		}
		select {
		// The agent is gone, and what it started may not be.
		case <-p.child.exited:
			p.kill()
			return
		case shorter := <-p.stop:
			if at := time.Now().Add(shorter); at.Before(deadline) {
				deadline = at
			}
		case <-time.After(wait):
		}
	}
}

// finish fills in the Exit.
func (p *Process) finish() {
	p.child.settle()
	status, lost := p.child.status()
	p.exit.Code = status.ExitStatus()
	p.exit.Signal = signalName(status)
	p.exit.Result = p.pumped
	p.amend(&p.exit.Result)
	if lost {
		p.exit.Code, p.exit.Signal = 0, "" // how it ended isn't known; why is
		p.exit.Result.Failure = &stream.Error{Message: "the process of ralph-lsp that keeps the agent's processes together was " +
			"killed, so the agent and all that it started were ended; the next run gets a new one"}
	}
	p.exit.ReadErr = p.readErr
	if p.exit.Lingered && !p.exit.Result.Terminal {
		p.exit.Lingered, p.exit.Code, p.exit.Signal = false, 0, "" // how it ended was our doing; the reason is this:
		p.exit.Result.Failure = &stream.Error{Message: fmt.Sprintf("the agent closed its output and didn't exit within %v", lingerLimit)}
	}
	p.exit.Stderr = strings.TrimSpace(p.stderr.String())
	p.exit.Duration = time.Since(p.started)
	close(p.done)
}

// Stop ends the agent and everything it started, giving it grace to end well.
// It returns at once; Wait returns when all of it is gone. A second Stop with
// a shorter grace hastens the first.
func (p *Process) Stop(grace time.Duration) {
	select {
	case p.stop <- grace:
	case <-p.done:
	default: // enough of them are waiting already
	}
}

// Wait returns when the agent and all that it started are gone.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Used is the processor time of what the agent has started, as far as it is known here: those that live, and those that
// they have waited for. 0 is unknown, too.
func (p *Process) Used() time.Duration { return p.child.used() }

// PID is the agent's process id.
func (p *Process) PID() int { return p.child.pid }

// StartMark identifies the agent's process beside its pid, against reuse.
func (p *Process) StartMark() string { return p.child.start }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// terminate is the polite request to end; on Windows it is as final as SIGKILL.
const terminate = syscall.SIGTERM

// signalName is the name of the signal that ended a process, or "".
func signalName(status syscall.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
