package server

import (
	"context"
	"errors"
	"path/filepath"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/wire"
)

// question is one about the loop in a folder that waits for its answer.
type question struct {
	situation string             // of the folder, see seenLoop; in another one the question is moot
	cancel    context.CancelFunc // withdraws it
}

// withdraw takes back what the user is asked about the folder's loop. The
// caller holds the manager's mu.
func (f *folder) withdraw() {
	if f.question != nil {
		f.question.cancel()
		f.question = nil
	}
}

// questionAbout returns the context of a question about the folder's loop,
// which is over when the question is moot. The caller holds mu.
func (m *manager) questionAbout(f *folder, situation string) context.Context {
	f.withdraw()
	ctx, cancel := context.WithCancel(m.ctx)
	f.question = &question{situation, cancel}
	return ctx
}

// askedOf is a loop of which the user was asked what to do with it.
type askedOf struct{ folder, loopID string }

// decisionFor returns what asks the user about a start that met another loop,
// nil when there is nothing to ask.
func (m *manager) decisionFor(err error, cfg loop.Config) func(context.Context) (*managed, error) {
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	if err == nil || m.user.asksItself() {
		return nil
	}
	if errors.As(err, &running) {
		return func(ctx context.Context) (*managed, error) {
			if m.user.ask(ctx, wire.QuestionAbout(err), aboutReplacing) != actionCancelAndStart {
				return nil, err
			}
			return m.launchInstead(cfg, func() error { return m.clear(ctx, cfg.Folder, running.Owner.LoopID) })
		}
	}
	if errors.As(err, &interrupted) {
		return func(ctx context.Context) (*managed, error) {
			switch m.user.ask(ctx, wire.QuestionAbout(err), aboutLeftBehind) {
			case actionContinue:
				return m.goOn(ctx, cfg.Folder, start.Options{}, false)
			case actionDiscardAndStart:
				return m.launchInstead(cfg, func() error { return loop.DiscardFolder(cfg.Folder, interrupted.State.LoopID) })
			}
			return nil, err
		}
	}
	return nil
}

// offerToContinue asks once what to do with a loop that nobody drives.
func (m *manager) offerToContinue(f *folder, found *seenLoop) {
	if m.user.asksItself() {
		return
	}
	st := found.status
	loopOf := askedOf{f.path, st.LoopID}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked[loopOf] || f.seen != found || m.folders[f.path] != f {
		return
	}
	m.asked[loopOf] = true
	ctx := m.questionAbout(f, found.situation())
	m.wg.Go(func() {
		question := wire.LeftSentence("in "+filepath.Base(f.path), st.StopReason, st.Iteration, st.Limits.MaxIterations)
		if last := wire.OneLine(st.Error); last != "" {
			question += " The last failure: " + last + "."
		}
		m.offer(ctx, messageInfo, question+" Go on with it?", actionLater, wire.OffersAfter(st))
	})
}

// announce tells a client without a plugin how a loop ended, and asks whether
// a limit that was reached should be raised.
func (m *manager) announce(f *folder, r *managed, end loop.End) {
	if m.ed.Client().OptedIn {
		return
	}
	message := "Ralph " + wire.EndText(end)
	if r.Status().State == loop.StateFailed && !m.user.asksItself() {
		return // a question tells it: what to do with the loop
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !end.Reason.Capped() || m.user.asksItself() || f.running != nil {
		m.user.show(messageTypes[end.Reason.Ending().Class], message)
		return
	}
	var nothing *seenLoop
	ctx := m.questionAbout(f, nothing.situation())
	m.wg.Go(func() {
		m.offer(ctx, messageTypes[end.Reason.Ending().Class], message, actionStop, wire.OffersAfter(r.Status()))
	})
}
