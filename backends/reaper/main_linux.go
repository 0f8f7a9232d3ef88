package reaper

import (
	"bufio"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// program is the name under which this program is the reaper. Behind it come the
// mark, the grace in milliseconds that the agents have when the other end is gone,
// the folder to remove then, and the file for a Verdict.
const program = "ralph-lsp-reaper"

func init() {
	if len(os.Args) != 5 || os.Args[0] != program {
		return
	}
	mark, _ := strconv.ParseUint(os.Args[1], 10, 64)
	grace, _ := strconv.Atoi(os.Args[2])
	serve(mark, time.Duration(grace)*time.Millisecond, os.Args[3], os.Args[4])
	syscall.Exit(0)
}

// nest is what the reaper knows.
type nest struct {
	socket *rightsReader

	sending sync.Mutex
	// waiting is held while children are waited for and while the agent is
	// signalled: so the agent's number isn't somebody else's yet.
	waiting sync.Mutex
	agent   int           // process id, 0 when it was waited for
	walled  bool          // it is walls, and the real one is inside
	born    chan struct{} // there may be children again; 1-buffered
	watcher
}

// serve is the reaper.
func serve(mark uint64, grace time.Duration, tempDir, verdictFile string) {
	// with a second one, Go looks 50 times at each thread that waits in a system call
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()                                           // the agents are sent SIGTERM when the thread that forked them dies
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0) // descendants whose own parent dies become its children
	bear(mark)
	setName("ralph-reaper")
	beDeaf()
	n := &nest{socket: &rightsReader{}, born: make(chan struct{}, 1), watcher: watcher{driver: Find(os.Getppid()), verdictFile: verdictFile}}
	go n.wait()
	for socket := bufio.NewReader(n.socket); ; {
		m, err := receive(socket)
		if err != nil {
			break
		}
		n.obey(m)
	}
	n.sweep(grace)
	if tempDir != "" {
		os.RemoveAll(tempDir)
	}
}

// beDeaf lets nobody but the other end stop this process. Signals are caught, not ignored: the agents would inherit
// an ignored signal.
func beDeaf() {
	caught := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{
		syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	} {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
	maskStops(sigUnblock)
}

// obey does what is asked for, on the thread that forks.
func (n *nest) obey(m message) {
	switch m.kind {
	case askStart:
		with := n.socket.files
		n.socket.files = nil
		pid, err := n.start(m, with)
		for _, fd := range with {
			syscall.Close(fd)
		}
		if errno, ok := err.(syscall.Errno); ok {
			n.say(message{kind: sayFailed, a: int(errno)})
			return
		}
		n.say(message{kind: sayStarted, a: pid})
		n.wake()
	case askSignal:
		n.waiting.Lock()
		defer n.waiting.Unlock()
		n.signal(syscall.Signal(m.a))
	case askSweep:
		found, survivors := n.sweep(time.Duration(m.a) * time.Millisecond)
		answer := message{kind: saySwept, a: found}
		for _, pid := range survivors {
			answer.words = append(answer.words, strconv.Itoa(pid))
		}
		n.say(answer)
	case askBeat:
		n.hear()
	}
}

// start starts the agent. The error is a syscall.Errno.
func (n *nest) start(m message, with []int) (pid int, err error) {
	if len(with) != files || m.b < 1 || len(m.words) < 2+m.b {
		return 0, syscall.EINVAL
	}
	attributes := &syscall.SysProcAttr{Setpgid: m.a&detached == 0, Setsid: m.a&detached != 0, Pdeathsig: syscall.SIGTERM}
	if m.a&onTerminal != 0 {
		if err := takeTerminal(with[0]); err != nil {
			return 0, err
		}
		attributes.Foreground, attributes.Ctty = true, with[0]
	}
	descriptors := make([]uintptr, files)
	for i, fd := range with {
		descriptors[i] = uintptr(fd)
	}
	n.waiting.Lock()
	defer n.waiting.Unlock()
	pid, err = syscall.ForkExec(m.words[0], m.words[2:2+m.b], &syscall.ProcAttr{
		Dir: m.words[1], Env: m.words[2+m.b:], Files: descriptors, Sys: attributes,
	})
	if err == nil {
		n.agent, n.walled = pid, m.a&walled != 0
	}
	return pid, err
}

// signal signals the agent's process group. The caller holds waiting.
func (n *nest) signal(sig syscall.Signal) {
	if n.agent == 0 {
		return
	}
	inside := []int(nil)
	if n.walled && sig != syscall.SIGKILL {
		inside = insideSandboxes(n.agent)
	}
	if len(inside) == 0 || sig == syscall.SIGCONT { // a Ctrl-Z stops the walls, too
		syscall.Kill(-n.agent, sig)
	}
	for _, pid := range inside {
		syscall.Kill(pid, sig)
	}
}

// insideSandboxes lists the processes of the group of the agent that the walls are around: the
// end of the walls themselves would be the end of all inside, without a word. None while
// they are raised.
func insideSandboxes(walls int) (pids []int) {
	for _, first := range children(walls) {
		agent := agentAmong(first)
		for _, p := range Find(first).Descendants() {
			if s, err := ReadStat(p.PID); err == nil && s.group == agent.group {
				pids = append(pids, p.PID)
			}
		}
	}
	return pids
}

// agentAmong is the agent below the first process behind walls: its oldest child. The others are orphans.
func agentAmong(first int) (agent Stat) {
	for _, pid := range children(first) {
		if s, err := ReadStat(pid); err == nil && (agent.PID == 0 || s.olderThan(agent)) {
			agent = s
		}
	}
	return agent
}

func (n *nest) wake() {
	select {
	case n.born <- struct{}{}:
	default:
	}
}

// wait waits for whoever ends, the agent and orphans.
func (n *nest) wait() {
	for {
		if awaitChild() != nil {
			<-n.born
			continue
		}
		n.reap()
	}
}

// reap waits for those that have ended, tells of the agent, and says whether
// nobody is below this process any more.
func (n *nest) reap() (none bool) {
	n.waiting.Lock()
	defer n.waiting.Unlock()
	exited := message{}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid == 0:
			if exited.kind == sayExited {
				if err != nil {
					exited.b = 1
				}
				n.say(exited)
			}
			return err != nil
		case pid != n.agent:
		case status.Stopped():
			n.say(message{kind: sayStopped})
		default:
			n.agent = 0
			exited = message{kind: sayExited, a: int(status)}
		}
	}
}

// sweep ends all that is below this process, and returns how many lived when it
// began, and who still does.
func (n *nest) sweep(grace time.Duration) (found int, survivors []int) {
	if n.reap() {
		return 0, nil
	}
	self := Find(os.Getpid())
	found = len(self.Descendants())
	if n.walled && grace > 0 { // not to the walls: with them all inside would end at once
		for _, p := range self.Descendants() {
			if p.PID != n.agent {
				p.Signal(syscall.SIGTERM)
			}
		}
		if await(n.reap, grace) {
			return found, nil
		}
		grace = 0
	}
	survivors = end(self.Descendants, n.reap, grace)
	return found, survivors
}

// say tells the other end. One that is gone hears nothing.
func (n *nest) say(m message) {
	n.sending.Lock()
	defer n.sending.Unlock()
	for frame := m.frame(); len(frame) > 0; {
		sent, err := syscall.Write(n.socket.fd, frame)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return
		}
		frame = frame[sent:]
	}
}
