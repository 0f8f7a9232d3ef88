package server

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// questions are those to the user of a client without a plugin, about loops.
type questions struct {
	*env
	workspace *workspace
	launcher  *launcher
	starter   *starter
	controls  *controls
	commands  map[string]command
}

// question is one about the loop in a folder that waits for its answer.
type question struct {
	situation string             // of the folder, see seenLoop; in another one the question is moot
	cancel    context.CancelFunc // withdraws it
}

// withdraw takes back what the user is asked about the folder's loop. The
// caller holds the workspace's mu.
func (f *folder) withdraw() {
	f.withdrawUndo()
	if f.question != nil {
		f.question.cancel()
		f.question = nil
	}
}

// questionAbout returns the context of a question about the folder's loop,
// which is over when the question is moot. The caller holds the workspace's mu.
func (f *folder) questionAbout(situation string) context.Context {
	f.withdraw()
	ctx, cancel := context.WithCancel(f.workspace.ctx)
	f.question = &question{situation, cancel}
	return ctx
}

// askedOf is a loop of which the user was asked what to do with it.
type askedOf struct{ folder, loopID string }

// decisionFor returns what asks the user about a start that met another loop,
// nil when there is nothing to ask.
func (q *questions) decisionFor(err error, cfg setup.Config) func(context.Context) (*managed, error) {
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	if err == nil || q.user.asksItself() {
		return nil
	}
	if errors.As(err, &running) {
		return func(ctx context.Context) (*managed, error) {
			chosen, err := q.user.permit(ctx, wire.QuestionAbout(err), aboutReplacing, err)
			if chosen != actionCancelAndStart {
				return nil, err
			}
			return q.launcher.launchInstead(cfg, func() error { return q.launcher.clear(ctx, cfg.Folder, running.Owner.LoopID) })
		}
	}
	if errors.As(err, &interrupted) {
		return func(ctx context.Context) (*managed, error) {
			chosen, err := q.user.permit(ctx, wire.QuestionAbout(err), aboutLeftBehind, err)
			switch chosen {
			case actionContinue:
				return q.starter.goOn(ctx, cfg.Folder, start.Options{}, "", false)
			case actionDiscardAndStart:
				return q.launcher.launchInstead(cfg, func() error { return loop.DiscardFolder(cfg.Folder, interrupted.State.LoopID) })
			}
			return nil, err
		}
	}
	return nil
}

// offerToContinue asks once what to do with a loop that nobody drives.
func (q *questions) offerToContinue(f *folder, found *seenLoop) {
	if q.ed.Client().OptedIn {
		return
	}
	ctx, st := f.askOnce(found), found.status
	if ctx == nil {
		return
	}
	q.wg.Go(func() {
		kind, left := messageInfo, wire.LeftSentence("in "+filepath.Base(f.path), st.StopReason, st.Iteration, st.Limits.MaxIterations, st.Error)+wire.LeftRunningText(" Beware: ", st.LeftRunning)
		if st.State == loop.StateEnded {
			kind, left = messageTypes[st.StopReason.Ending().Class], q.workspace.nameOf(st)+" "+wire.EndText(*st.Last)+"."
		}
		q.offer(ctx, kind, left, " Go on with it?", actionLater, wire.OffersAfter(st))
	})
}

// announce tells a client without a plugin how a loop ended. Where it can go on and its
// folder is open, a question does: what to do with it.
func (q *questions) announce(f *folder, r *managed, end loop.End, isOpen bool) {
	if q.ed.Client().OptedIn || isOpen && r.Status().CanGoOn() {
		return
	}
	q.user.show(messageTypes[end.Reason.Ending().Class], q.workspace.nameOf(r.Status())+" "+wire.EndText(end))
}
