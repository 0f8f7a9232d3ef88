package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// command is what somebody wants of the loop. All come by one path: Loop.ask, obey, and an answer.
type command struct {
	loop.Request
	who caller.Who
	by  string // author of the request, see loop.LimitsChanged
}

// answer is what came of a command.
type answer struct {
	iteration int
	id        string // of what the agents are told
	err       error
}

// own is a command of the window that drives the loop, so of its user.
func own(q loop.Request) command { return command{Request: q, by: loop.ByWindow} }

// stopping are the commands that end a loop.
var stopping = map[string]struct {
	why   loop.StopReason
	grace time.Duration
}{
	caller.Cancel:    {loop.StopCancelled, backends.Grace},
	loop.DoInterrupt: {loop.StopInterrupted, backends.QuickGrace},
	loop.DoKill:      {loop.StopInterrupted, 0},
}

// may says why who asks can't have it. An agent may tighten the loop, which change looks at; only its user may do more.
func (c command) may() error {
	switch {
	case c.isStop(), c.Do == loop.DoLast:
		return c.who.May(caller.Cancel)
	case c.Do == caller.Answer, c.Do == caller.Detach, c.Do == caller.Next:
		return c.who.May(c.Do)
	}
	return nil
}

func (c command) isStop() bool {
	_, isStop := stopping[c.Do]
	return isStop
}

// change makes the change of a state file that is asked for.
func (c command) change(s *loopstate.State) error {
	before := progress.TermsOf(*s)
	if err := c.Change(s); err != nil {
		return err
	}
	if _, _, words := before.Loosening(progress.TermsOf(*s)); c.Do != caller.Update || len(words) > 0 {
		if err := c.who.May(c.Do); err != nil {
			return err
		}
	}
	if err := s.Limits().Check(); err != nil {
		return err
	}
	return setup.CheckPromise(s.CompletionPromise())
}

// obey carries out a command, and answers when that is done.
func (l *engine) obey(c command, done func(answer)) {
	to := answer{iteration: l.state.Status.Iteration}
	if to.err = c.may(); c.LoopID != "" && c.LoopID != l.id {
		to.err = loop.ErrNotRunning
	}
	switch stop := stopping[c.Do]; {
	case to.err != nil:
	case c.Do == loop.DoLast:
		l.state.Wanted.LastRun = true
		l.ending.wake()
	case c.isStop():
		l.ending.requestStop(stop.why, stop.grace)
	case c.Do == caller.Answer:
		to.err = l.pending.Answer(c.ID, c.Answer)
	case c.Do == caller.Next:
		to.iteration, to.err = l.skip()
	case c.Do == caller.Detach:
		to.iteration, to.err = 0, l.detach()
	case c.Do == loop.DoDisallow:
		if to.err = l.questions.disallow(c.Text); to.err == nil && !l.state.Concluded {
			l.files.queue.Add(func() { _, to.err = l.files.write(l.files.note, nothing) }, func() { done(to) })
			return
		}
	default:
		l.files.edit(c, func(err error) {
			if to.err = err; c.Do == caller.Steer {
				to.id = l.state.Steering.ID(c.Text)
			}
			done(to)
		})
		return
	}
	done(to)
}

// ask has the engine carry out a command, and returns when that is done, or the loop is over.
func (l *Loop) ask(c command) answer {
	if stop, isStop := stopping[c.Do]; isStop && c.may() == nil {
		l.engine.ending.hurry(stop.why, stop.grace) // its goroutine may hang
	}
	if a, ok := asked(l, nil, func(done func(answer)) { l.engine.obey(c, done) }); ok {
		return a
	}
	return answer{iteration: l.Status().Iteration, err: loop.ErrNotRunning}
}

// own has the loop do what its user wants.
func (l *Loop) own(q loop.Request) error { return l.ask(own(q)).err }

// stop asks for the loop's end, and waits for it.
func (l *Loop) stop(do string) {
	l.own(loop.Request{Do: do})
	l.Wait()
}

// Interrupt ends the loop quickly and keeps its state file, so that it can be
// continued: the editor or the terminal goes away.
func (l *Loop) Interrupt() { l.stop(loop.DoInterrupt) }

// Kill is Interrupt without any grace, and makes one that is under way shorter.
func (l *Loop) Kill() { l.stop(loop.DoKill) }

// Answer answers an open question. It is ask.ErrNoQuestion when it isn't open, or this is no
// answer to it.
func (l *Loop) Answer(id string, a ask.Answer) error {
	return l.own(loop.Request{Do: caller.Answer, ID: id, Answer: a})
}

// Detach lets the loop go on whatever window shows it. It is ErrNotDetachable where its process is a window's.
func (l *Loop) Detach() (iteration int, err error) {
	a := l.ask(own(loop.Request{Do: caller.Detach}))
	return a.iteration, a.err
}

// detach says that no window owns the loop any more.
func (l *engine) detach() error {
	switch {
	case l.state.Status.Detached: // that is how it runs
		return nil
	case l.host.LetGo == nil:
		return loop.ErrNotDetachable
	}
	l.state.Status.Detached = true
	l.record.stands()
	l.host.LetGo()
	return nil
}

// Attach says that a window owns the loop again that was detached.
func (l *Loop) Attach() {
	asked(l, nil, func(done func(struct{})) {
		l.engine.state.Status.Detached = false
		l.engine.record.stands()
		done(struct{}{})
	})
}

// Do carries out a request of a process, 0 for one that can't be told.
func (l *Loop) Do(pid int, q loop.Request) loop.Reply {
	a := l.ask(command{Request: q, who: caller.Peer(pid, q.From), by: loop.ByProcess(pid)})
	r := loop.ReplyOf(a.iteration, a.err)
	r.ID = a.id
	return r
}
