package engine

import (
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// editOf returns the change of a state file that q asks for. An agent may tighten the loop; only its user may do more.
func editOf(q loop.Request, who caller.Who) func(*loopstate.State) error {
	return func(s *loopstate.State) error {
		before := progress.TermsOf(*s)
		if err := q.Change(s); err != nil {
			return err
		}
		if _, _, words := before.Loosening(progress.TermsOf(*s)); q.Do == caller.Update && len(words) == 0 {
			return nil
		}
		return who.May(q.Do)
	}
}

// listen lets other processes of the user's ask this loop for something.
func (l *engine) listen(do func(pid int, q loop.Request) loop.Reply) {
	dir, err := paths.State("control")
	if err == nil {
		l.server, err = control.Serve(dir, l.id, loop.Answering(do), l.host.Windows)
	}
	if err != nil {
		l.owner.Deaf = loop.OneLine(err.Error())
		l.cfg.Warnings = append(l.cfg.Warnings, "other processes can't pause, steer or answer this loop, only its own window can: "+l.owner.Deaf)
		return
	}
	l.owner.Control = l.server.Path
}

// Do carries out a request of a process, 0 for one that can't be told.
func (l *Loop) Do(pid int, q loop.Request) loop.Reply {
	who := caller.Peer(pid, q.From)
	iteration := l.engine.status().Iteration
	if q.LoopID != "" && q.LoopID != l.engine.id {
		return loop.ReplyOf(iteration, loop.ErrNotRunning)
	}
	var err error
	with := func(right string, do func()) {
		if err = who.May(right); err == nil {
			do()
		}
	}
	switch q.Do {
	case caller.Answer:
		with(q.Do, func() { err = l.Answer(q.ID, q.Answer) })
	case caller.Cancel:
		with(q.Do, func() { go l.Cancel() })
	case loop.DoInterrupt:
		with(caller.Cancel, func() { go l.Interrupt() })
	case loop.DoKill:
		with(caller.Cancel, func() { go l.Kill() })
	case caller.Detach:
		with(q.Do, func() { iteration, err = l.Detach() })
	case caller.Next:
		with(q.Do, func() { iteration, err = l.Next() })
	case loop.DoDisallow:
		err = l.Disallow(q.Text)
	default:
		err = l.engine.files.edit(editOf(q, who), loop.ByProcess(pid))
	}
	return loop.ReplyOf(iteration, err)
}
