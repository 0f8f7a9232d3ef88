package server

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// questions are those to the user of a client without a plugin, about loops.
type questions struct {
	*session.Session
	workspace *folders.Workspace
	launcher  *launcher
	starter   *starter
	commands  map[string]command
}

// decisionFor returns what asks the user about a start that met another loop,
// nil when there is nothing to ask.
func (q *questions) decisionFor(err error, cfg setup.Config) func(context.Context) (*folders.Managed, error) {
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	if err == nil || q.User.AsksItself() {
		return nil
	}
	if errors.As(err, &running) {
		return func(ctx context.Context) (*folders.Managed, error) {
			chosen, err := q.User.Permit(ctx, wire.QuestionAbout(err), session.AboutReplacing, err)
			if chosen != session.ActionCancelAndStart {
				return nil, err
			}
			return q.launcher.launchInstead(ctx, cfg, running.Owner.LoopID, wire.WhenNow)
		}
	}
	if errors.As(err, &interrupted) {
		return func(ctx context.Context) (*folders.Managed, error) {
			chosen, err := q.User.Permit(ctx, wire.QuestionAbout(err), session.AboutLeftBehind, err)
			switch chosen {
			case session.ActionContinue:
				return q.starter.takeUp(ctx, loop.Status{Folder: cfg.Folder}, wire.ResumeParams{})
			case session.ActionDiscardAndStart:
				return q.launcher.launchInstead(ctx, cfg, interrupted.State.LoopID, wire.WhenLeft)
			}
			return nil, err
		}
	}
	return nil
}

// offerToContinue asks once what to do with a loop that nobody drives.
func (q *questions) offerToContinue(f *folders.Folder, found *loop.Status) {
	if q.Editor.Client().OptedIn {
		return
	}
	ctx, st := f.AskOnce(found), *found
	if ctx == nil {
		return
	}
	q.Work.Go(func() {
		kind, left := session.MessageInfo, wire.LeftSentence("in "+filepath.Base(f.Path), st.StopReason, st.Iteration,
			st.Limits.MaxIterations, st.Error)+wire.LeftRunningText(" Beware: ", st.LeftRunning)
		if st.State == loop.StateEnded {
			kind, left = session.MessageTypes[st.StopReason.Ending().Class], q.workspace.NameOf(st)+" "+wire.EndText(*st.Last)+"."
		}
		q.offer(ctx, kind, left, " Go on with it?", session.ActionLater, wire.OffersAfter(st))
	})
}

// announce tells a client without a plugin how a loop ended. Where it can go on and its
// folder is open, a question does: what to do with it.
func (q *questions) announce(r *folders.Managed, end loop.End, isOpen bool) {
	if q.Editor.Client().OptedIn || isOpen && r.Status().CanGoOn() {
		return
	}
	q.User.Show(session.MessageTypes[end.Reason.Ending().Class], q.workspace.NameOf(r.Status())+" "+wire.EndText(end))
}
