package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/verify"
	"github.com/ralph-lsp/ralph-lsp/wire"
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
func (q *questions) tell(f *folder, r *managed, e loop.Event) {
	if q.ed.Client().OptedIn {
		return
	}
	switch e := e.(type) {
	case loop.IterationStart:
		q.workspace.withdrawUndo(r.cfg.Folder)
	case loop.Verify:
		if e.State == verify.Running && e.Output == "" {
			r.offered.moot()
		}
	case loop.LimitsChanged:
		r.offered.moot()
	case loop.Warning:
		if slices.Contains(r.cfg.Warnings, e.Message) {
			return // the start has told those
		}
	case loop.End:
		return // announced once the loop is out of its folder
	}
	said := wire.SaidOf(e)
	if e, ok := e.(loop.StateChanged); ok && e.State == loop.StatePaused && e.Reason == loop.PauseUser {
		said.Text, said.Notify = wire.PausedText(r.Status().Iteration), true // what was answered at once holds now
	}
	if !said.Notify {
		return
	}
	kind, message := messageTypes[said.Class], q.workspace.nameOf(r.Status())+": "+wire.Whole(said.Text)
	switch {
	case len(said.Offers) == 0:
		q.user.show(kind, message)
	default:
		ctx := r.offered.question(q.ctx)
		q.wg.Go(func() { q.offer(ctx, kind, message, "", actionLeave, said.Offers) })
	}
}

// offer says something and asks whether to do one of the offers, and does it. ctx
// is over when they are moot.
func (q *questions) offer(ctx context.Context, kind messageType, message, question, safe string, offers []wire.Command) {
	var titles []string
	for _, o := range offers {
		titles = append(titles, o.Title)
	}
	chosen := slices.Index(titles, q.user.askWith(ctx, kind, message+question, safe, titles...))
	if ctx.Err() != nil {
		return
	}
	if chosen < 0 {
		if q.user.asksItself() { // we know by now that it can't ask
			q.user.show(kind, message)
		}
		return
	}
	result, err := q.do(q.ctx, offers[chosen])
	if refusal.Reason(err) != wire.ReasonNotRunning { // else somebody else was faster
		q.user.answer(result, err)
	}
}

// do runs an offer's command.
func (q *questions) do(ctx context.Context, o wire.Command) (any, error) {
	argument, err := json.Marshal(o.Arguments[0])
	if err != nil {
		return nil, err
	}
	task, err := q.commands[o.Command](argument)
	if err != nil {
		return nil, err
	}
	return task.run(ctx)
}
