package server

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// tell shows a client without a plugin what a loop says to its user, in an update: with a
// question where something can be done. It doesn't block.
func (q *questions) tell(f *folders.Folder, r *folders.Managed, update []byte) {
	if q.Editor.Client().OptedIn {
		return
	}
	switch wire.KindOf(update) {
	case wire.KindMessageChunk, wire.KindThoughtChunk, wire.KindToolCall, wire.KindToolCallUpdate, wire.KindUsage:
		return // most are such, and say nothing to the user
	}
	u := wire.Decode(update)
	said := wire.NoticeIn(u)
	switch u := u.(type) {
	case wire.Iteration:
		f.Undo.Withdraw()
	case wire.Verify:
		if u.State == verify.Running && u.Output == "" {
			r.Offered.Withdraw()
		}
	case wire.Limits:
		r.Offered.Withdraw()
	case wire.Warning:
		if slices.Contains(r.Warnings, u.Message) {
			return // the start has told those
		}
	case wire.StateChange:
		if u.State == loop.StatePaused && u.Reason == loop.PauseUser {
			said.Text, said.Notify = wire.PausedText(r.Status().Iteration), true // what was answered at once holds now
		}
	case wire.End:
		return // announced once the loop is out of its folder
	}
	if !said.Notify {
		return
	}
	kind, message := session.MessageTypes[said.Class], q.workspace.NameOf(r.Status())+": "+wire.Whole(said.Text)
	switch {
	case len(said.Offers) == 0:
		q.User.Show(kind, message)
	default:
		ctx := r.Offered.Ask(q.Ctx)
		q.Work.Go(func() { q.offer(ctx, kind, message, "", session.ActionLeave, said.Offers) })
	}
}

// offer says something and asks whether to do one of the offers, and does it. ctx
// is over when they are moot.
func (q *questions) offer(ctx context.Context, kind session.MessageType, message, question, safe string, offers []wire.Command) {
	titles := []string{safe}
	for _, o := range offers {
		titles = append(titles, o.Title)
	}
	chosen := slices.Index(titles, q.User.AskWith(ctx, kind, message+question, titles...)) - 1
	if ctx.Err() != nil {
		return
	}
	if chosen < 0 {
		if q.User.AsksItself() { // we know by now that it can't ask
			q.User.Show(kind, message)
		}
		return
	}
	result, err := q.do(q.Ctx, offers[chosen])
	if refusal.Reason(err) != wire.ReasonNotRunning { // else somebody else was faster
		q.User.Answer(result, err)
	}
}

// do runs an offer's command.
func (q *questions) do(ctx context.Context, o wire.Command) (any, error) {
	argument, err := json.Marshal(o.Arguments[0])
	if err != nil {
		return nil, err
	}
	task, err := q.commands[o.Command].read(argument)
	if err != nil {
		return nil, err
	}
	return task.run(ctx)
}
