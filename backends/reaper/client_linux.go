package reaper

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrKilled says that a reaper is gone. Its agents are ended.
var ErrKilled = errors.New("the process that keeps the agents together was killed")

const (
	// answerLimit is how long the reaper may take for a start or a sweep beyond
	// what was granted: then somebody holds it, and it is killed.
	answerLimit = 30 * time.Second
	closeLimit  = 2 * time.Second
	deathGrace  = 300 * time.Millisecond // for what a killed reaper kept
)

// Reaper is this program's end of it. Its methods may be called from several goroutines.
type Reaper struct {
	Proc
	mark    uint64
	socket  *os.File
	process *os.Process

	sending sync.Mutex
	asking  sync.Mutex // held until the answer is there
	answers chan message
	dead    chan struct{}

	mu      sync.Mutex
	closing bool
	agent   *Agent // the last one
}

// Agent is a process that a reaper started.
type Agent struct {
	Proc
	Stopped chan struct{} // it has suspended itself; 1-buffered
	Exited  chan struct{} // closed when it was waited for; the fields below are set then
	Status  syscall.WaitStatus
	Lost    bool // the reaper was killed, and the agent with it

	walled bool  // it is the outside of walls
	alone  bool  // it left nothing behind
	killed []int // processes that could not be ended after the reaper's death
	reaper *Reaper
}

// Command says what to start.
type Command struct {
	Path, Dir  string
	Args, Env  []string // with the program's name; as os/exec has them, without duplicates
	Files      [files]*os.File
	Detached   bool // in a session of its own
	Walled     bool // it is bubblewrap, whose child is the first process of those inside, and the parent of the agent
	OnTerminal bool // the first file is its terminal, where it is the foreground job; the reaper leads the session
}

// Start starts a reaper. When this process is gone, or calls Close, it ends
// what is below it with that grace, and removes the folder. When this process answers nothing for
// Silence, it ends that, and appends a Verdict to a file; "" for none.
func Start(mark uint64, grace time.Duration, tempDir, verdictFile string) (*Reaper, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "reaper")
	defer theirs.Close()
	if err := syscall.SetNonblock(pair[0], true); err != nil {
		return nil, errors.Join(err, syscall.Close(pair[0]))
	}
	ours := os.NewFile(uintptr(pair[0]), "reaper")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer null.Close()
	process, err := withoutStops(func() (*os.Process, error) {
		argv := []string{program, strconv.FormatUint(mark, 10), strconv.FormatInt(grace.Milliseconds(), 10), tempDir, verdictFile}
		return os.StartProcess("/proc/self/exe", argv, &os.ProcAttr{
			Dir: "/", Files: []*os.File{theirs, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	r := &Reaper{
		Proc: Find(process.Pid), mark: mark, socket: ours, process: process,
		answers: make(chan message, 1), dead: make(chan struct{}),
	}
	go r.listen()
	go r.beat()
	return r, nil
}

// listen hears what the reaper says, to its end.
func (r *Reaper) listen() {
	for socket := bufio.NewReader(r.socket); ; {
		m, err := receive(socket)
		if err != nil {
			break
		}
		r.mu.Lock()
		agent := r.agent
		r.mu.Unlock()
		switch m.kind {
		case sayExited:
			agent.Status, agent.alone = syscall.WaitStatus(m.a), m.b == 1
			close(agent.Exited)
		case sayStopped:
			select {
			case agent.Stopped <- struct{}{}:
			default:
			}
		default:
			if m.kind == sayStarted {
				agent.Proc = Find(m.a)
			}
			r.answers <- m
		}
	}
	r.bury()
}

// beat tells the reaper again and again that this process is well. A reaper that is stopped needn't get it, and
// blocks no other request.
func (r *Reaper) beat() {
	beats := time.NewTicker(beatInterval)
	defer beats.Stop()
	raw, err := r.socket.SyscallConn()
	for frame := (message{kind: askBeat}).frame(); err == nil; {
		if r.sending.TryLock() {
			err = raw.Control(func(fd uintptr) { _ = syscall.Sendto(int(fd), frame, syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT, nil) })
			r.sending.Unlock()
		}
		select {
		case <-beats.C:
		case <-r.dead:
			return
		}
	}
}

// bury ends what a reaper left behind that was killed.
func (r *Reaper) bury() {
	r.mu.Lock()
	closing, agent := r.closing, r.agent
	r.mu.Unlock()
	if !closing {
		r.process.Kill() // if it only closed its socket
		r.socket.Close()
	}
	state, err := r.process.Wait()
	var survivors []int
	switch ended := closing && err == nil && state.Success(); {
	case ended:
	case r.mark > 0:
		survivors = EndMarked(r.mark, deathGrace)
	case agent != nil:
		survivors = EndDescendants(agent.Proc, deathGrace)
	}
	if agent != nil {
		select {
		case <-agent.Exited:
		default:
			agent.Lost, agent.killed = true, survivors
			close(agent.Exited)
		}
	}
	close(r.dead)
}

// Dead says whether the reaper is gone, with all that it kept.
func (r *Reaper) Dead() bool {
	select {
	case <-r.dead:
		return true
	default:
		return false
	}
}

// Run starts an agent. No other one of this reaper's may run. The error is a
// syscall.Errno, or what keeps the reaper from being asked.
func (r *Reaper) Run(c Command) (*Agent, error) {
	m := message{kind: askStart, b: len(c.Args), words: append(append([]string{c.Path, c.Dir}, c.Args...), c.Env...)}
	if c.Walled {
		m.a |= walled
	}
	if c.Detached {
		m.a |= detached
	}
	if c.OnTerminal {
		m.a |= onTerminal
	}
	agent := &Agent{reaper: r, walled: c.Walled, Stopped: make(chan struct{}, 1), Exited: make(chan struct{})}
	r.mu.Lock()
	r.agent = agent
	r.mu.Unlock()
	answer, err := r.ask(m, 0, c.Files[:]...)
	switch {
	case err != nil:
		return nil, err
	case answer.kind == sayFailed:
		return nil, syscall.Errno(answer.a)
	}
	return agent, nil
}

// ask asks and waits for the answer.
func (r *Reaper) ask(m message, granted time.Duration, with ...*os.File) (message, error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	if err := r.send(m, with...); err != nil {
		<-r.dead
		return message{}, ErrKilled
	}
	limit := time.AfterFunc(granted+answerLimit, func() { r.process.Kill() })
	defer limit.Stop()
	select {
	case answer := <-r.answers:
		return answer, nil
	case <-r.dead:
		return message{}, ErrKilled
	}
}

func (r *Reaper) send(m message, with ...*os.File) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	return send(r.socket, m, with...)
}

// Signal sends a signal to the agent's process group, if the agent lives.
func (a *Agent) Signal(sig syscall.Signal) {
	a.reaper.send(message{kind: askSignal, a: int(sig)}) // of a dead one nothing is left to hear it
}

// Sweep ends all that the agent started, and the agent: SIGTERM, and SIGKILL
// after the grace. It returns when nothing is left, or with an error that names
// what is; found is how many lived.
func (a *Agent) Sweep(grace time.Duration) (found int, err error) {
	select {
	case <-a.Exited:
		if a.alone {
			return 0, nil
		}
	default:
	}
	answer, err := a.reaper.ask(message{kind: askSweep, a: int(grace.Milliseconds())}, grace+KillLimit)
	if err != nil { // it is dead, and what it kept was ended
		<-a.Exited
		return 0, Survivors(a.killed)
	}
	if len(answer.words) > 0 {
		return answer.a, fmt.Errorf("processes %v could not be ended", answer.words)
	}
	return answer.a, nil
}

// Close ends the reaper, with what is left below it.
func (r *Reaper) Close() {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.socket.Close()
	select {
	case <-r.dead:
	case <-time.After(closeLimit): // it goes on without us
	}
}
