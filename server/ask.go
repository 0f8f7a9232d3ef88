package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
)

// A client that opted in asks its user itself. For all others the server asks,
// with window/showMessageRequest. Whoever doesn't answer blocks nothing but the
// request that waits for it.

// messageType is LSP's MessageType.
type messageType int

const (
	messageError   messageType = 1
	messageWarning messageType = 2
	messageInfo    messageType = 3
)

type messageItem struct {
	Title string `json:"title"`
}

type messageParams struct {
	Type    messageType   `json:"type"`
	Message string        `json:"message"`
	Actions []messageItem `json:"actions,omitempty"`
}

// ask asks the user and returns the action that was chosen, "" when none was.
func (m *manager) ask(ctx context.Context, message string, actions ...string) string {
	params := messageParams{Type: messageInfo, Message: message}
	for _, title := range actions {
		params.Actions = append(params.Actions, messageItem{title})
	}
	var chosen *messageItem
	if err := m.ed.Request(ctx, "window/showMessageRequest", params, &chosen); err != nil || chosen == nil {
		return ""
	}
	return chosen.Title
}

// asksItself says whether the client asks its user without our help, or can't be asked.
func (m *manager) asksItself() bool {
	client := m.ed.Client()
	return client.OptedIn || !client.ShowMessageRequest
}

// The actions of the questions.
const (
	actionCancelAndStart  = "Cancel and start"
	actionKeep            = "Keep"
	actionContinue        = "Continue"
	actionDiscardAndStart = "Discard and start"
	actionDiscard         = "Discard"
	actionLater           = "Later"
	actionRaise           = "Raise and go on"
	actionStop            = "Stop"
)

// decisionFor returns what asks the user about a start that met another loop,
// nil when there is nothing to ask.
func (m *manager) decisionFor(err error, cfg loop.Config) func(context.Context) (*managed, error) {
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	if err == nil || m.asksItself() {
		return nil
	}
	if errors.As(err, &running) {
		return func(ctx context.Context) (*managed, error) {
			if m.ask(ctx, "Ralph loop active. Cancel it to start the new task?", actionCancelAndStart, actionKeep) != actionCancelAndStart {
				return nil, err
			}
			return m.launchInstead(ctx, cfg)
		}
	}
	if errors.As(err, &interrupted) {
		return func(ctx context.Context) (*managed, error) {
			question := fmt.Sprintf("A Ralph loop stopped here at iteration %s. Continue it, or discard it and start the new task?",
				OfMax(interrupted.State.Iteration, interrupted.State.MaxIterations))
			switch m.ask(ctx, question, actionContinue, actionDiscardAndStart, actionKeep) {
			case actionContinue:
				return m.goOn(ctx, cfg.Folder, start.Options{}, false)
			case actionDiscardAndStart:
				return m.launchInstead(ctx, cfg)
			}
			return nil, err
		}
	}
	return nil
}

// launchInstead ends the loop that is there, and starts another.
func (m *manager) launchInstead(ctx context.Context, cfg loop.Config) (*managed, error) {
	if _, _, err := checkStart(cfg); err != nil { // the answer may have taken long
		return nil, err
	}
	if err := m.clear(ctx, cfg.Folder); err != nil {
		return nil, err
	}
	return m.launch(cfg)
}

// offerToContinue asks once what to do with a loop that nobody drives.
func (m *manager) offerToContinue(f *folder, seen *seenLoop) {
	m.mu.Lock()
	asked := seen.asked
	seen.asked = true
	m.mu.Unlock()
	if asked || m.asksItself() {
		return
	}
	st := seen.status
	m.wg.Go(func() {
		question := fmt.Sprintf("A Ralph loop was interrupted in %s at iteration %s. Go on with it?",
			filepath.Base(f.path), OfMax(st.Iteration, st.Limits.MaxIterations))
		var err error
		switch m.ask(m.ctx, question, actionContinue, actionDiscard, actionLater) {
		case actionContinue:
			_, err = m.goOn(m.ctx, f.path, start.Options{}, false)
		case actionDiscard:
			_, err = loop.CancelFolder(m.ctx, f.path)
		}
		if err != nil {
			m.show(messageError, "Ralph: "+err.Error())
		}
	})
}

// announce tells a client without a plugin how a loop ended, and asks whether
// a limit that was reached shall be raised.
func (m *manager) announce(r *managed, end loop.End) {
	if m.ed.Client().OptedIn {
		return
	}
	kind := messageInfo
	switch {
	case end.Reason.Capped(), end.Reason == loop.StopCancelled, end.Reason == loop.StopStateRemoved:
		kind = messageWarning
	case end.Reason != loop.StopPromise:
		kind = messageError
	}
	message := "Ralph " + endText(end)
	if !end.Reason.Capped() || m.asksItself() {
		m.show(kind, message)
		return
	}
	m.wg.Go(func() {
		raised, words := raise(r.Status().Limits, end.Reason)
		if m.ask(m.ctx, message+". "+words, actionRaise, actionStop) != actionRaise {
			return
		}
		if _, err := m.launch(m.again(r, loop.Config{Change: raised})); err != nil {
			m.show(messageError, "Ralph: "+err.Error())
		}
	})
}

// raise doubles the limit that was reached.
func raise(l loop.Limits, reached loop.StopReason) (loop.Patch, string) {
	switch reached {
	case loop.StopMaxCost:
		cost := 2 * l.MaxCostUSD
		return loop.Patch{MaxCostUSD: &cost}, fmt.Sprintf("Raise the budget to $%.2f?", cost)
	case loop.StopMaxTime:
		limit := 2 * l.MaxDuration
		return loop.Patch{MaxDuration: &limit}, fmt.Sprintf("Raise the time to %v?", limit.Round(time.Second))
	}
	n := 2 * l.MaxIterations
	return loop.Patch{MaxIterations: &n}, fmt.Sprintf("Raise the limit to %d iterations?", n)
}

// show shows the user a message.
func (m *manager) show(kind messageType, message string) {
	m.ed.Notify("window/showMessage", messageParams{Type: kind, Message: message})
}
