package server

import (
	"context"
	"slices"
	"sync"

	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// actionLeave is the answer to an offer that changes nothing.
const actionLeave = "Leave it"

// offered are the questions that a loop's offers became, until they are moot.
type offered struct {
	mu       sync.Mutex
	withdraw []context.CancelFunc
}

// question returns the context of a question, which is over when it is moot.
func (o *offered) question(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.withdraw = append(o.withdraw, cancel)
	return ctx
}

// moot takes back what the user was asked.
func (o *offered) moot() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, withdraw := range o.withdraw {
		withdraw()
	}
	o.withdraw = nil
}

// tell shows a client without a plugin what a loop says to its user: with a
// question where something can be done. It doesn't block.
func (m *manager) tell(r *managed, e loop.Event) {
	if m.ed.Client().OptedIn {
		return
	}
	switch e := e.(type) {
	case loop.Goal:
		m.user.show(messageInfo, "Ralph: "+wire.GoalText(e))
	case loop.NearMiss:
		m.tellWarning(r, "Ralph, "+wire.NearMissText(e), e.Offer)
	case loop.Warning:
		if !slices.Contains(r.cfg.Warnings, e.Message) { // the start has told those
			m.tellWarning(r, "Ralph: "+wire.LineOf(e.Message, maxWarning), e.Offer)
		}
	case loop.LimitsChanged:
		r.offered.moot()
	}
}

// tellWarning shows a warning, and asks whether to do what the loop offers.
func (m *manager) tellWarning(r *managed, message string, offer loop.Offer) {
	offers := wire.OffersOf(offer)
	if len(offers) == 0 || m.user.asksItself() {
		m.user.show(messageWarning, message)
		return
	}
	ctx := r.offered.question(m.ctx)
	m.wg.Go(func() {
		var titles []string
		for _, o := range offers {
			titles = append(titles, o.Title)
		}
		chosen := slices.Index(titles, m.user.askWith(ctx, messageWarning, message, actionLeave, titles...))
		if chosen < 0 || ctx.Err() != nil {
			return
		}
		change := wire.ChangeParams{LoopParams: wire.LoopParams{LoopID: offer.LoopID}, LimitParams: wire.LimitParams{CompletionPromise: &offer.Promises[chosen]}}
		if _, err := m.update(ctx, change); err != nil {
			m.user.show(messageError, "Ralph: "+err.Error())
		}
	})
}
