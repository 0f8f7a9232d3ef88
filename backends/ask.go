package backends

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// nobody is what an agent is told that asks when nobody can be asked.
const nobody = "nobody is there to be asked"

// Answer is what an agent is told that has asked.
type Answer struct {
	Yes  bool   // it may; of a question for a value: Text is that
	Text string // with a no: words for the agent
}

// Asking returns the backend, whose runs can be talked to, such that it asks its user, with
// the user's own arguments. The error says why it can't.
func (b Backend) Asking(ctx context.Context, user []string) (Backend, error) {
	if _, err := b.Find(); err != nil {
		return b, err
	}
	b, unknown := b.talking(ctx, user)
	switch live := b.Live; {
	case live == nil:
		return b, fmt.Errorf("%s can't ask you before it does something: choose pi or claude, or leave out permissions = \"ask\"", b.Name)
	case b.Prompt != PromptLive && live.refuses(user):
		return b, fmt.Errorf("%s can't ask you with these arguments of yours: %v; leave them out, or permissions = \"ask\"", b.Name, user)
	case unknown != nil:
		return b, fmt.Errorf("%s can't ask you while its version is unknown: %w; run it yourself, then try again, or leave out "+
			"permissions = \"ask\"", b.Name, unknown)
	case b.Prompt != PromptLive:
		return b, fmt.Errorf("%s can't ask you before version %s: update it, or leave out permissions = \"ask\"", b.Name, live.Since)
	case HasFlag(user, live.AskUnless...):
		return b, fmt.Errorf("%v asks somebody else than you: leave it out, or permissions = \"ask\"", live.AskUnless)
	case live.ACP != nil:
		b = b.WithModes(live.ACP.AskMode, "")
	case live.Asks != nil:
		b.Replaceable = live.Asks
	}
	b.Args, b.May = slices.Concat(b.Args, b.Live.AskArgs), b.Live.AskMay
	return b, nil
}

// ask hands on what the agent wants to be told, or answers where nobody can.
func (p *Process) ask(q stream.Question) {
	live := p.live()
	why := nobody
	if p.spec.Ask != nil {
		if why = ""; live.Refuse != nil {
			why = live.Refuse(q)
		}
	}
	if why != "" {
		if q.Method == "can_use_tool" && p.spec.Backend.Live.ACP != nil {
			p.deny(stream.Denial{Tool: q.Tool, ID: q.CallID, Detail: stream.ToolCall{Input: q.Input}.Detail()})
		}
		p.in.send(frames(live.Answer(q, Answer{Text: why}))...)
		return
	}
	p.talk.mu.Lock()
	p.talk.open = append(p.talk.open, q)
	p.talk.mu.Unlock()
	p.spec.Ask(q, func(a Answer) bool { return p.answer(q, a) })
}

// deny takes note of what an agent is refused that doesn't tell so itself.
func (p *Process) deny(d stream.Denial) {
	if len(p.talk.denials) < stream.MaxRecent {
		p.talk.denials = append(p.talk.denials, d)
	}
	if p.spec.Handler != nil {
		p.spec.Handler.Handle(stream.Denied{Denial: d})
	}
}

// answer tells the agent what it wanted to know. It is false when it doesn't any more.
func (p *Process) answer(q stream.Question, a Answer) bool {
	return p.talk.close(q.ID) && p.in.send(frames(p.live().Answer(q, a))...)
}

// close takes a question for answered. It is false when it isn't open.
func (t *talk) close(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.open, func(q stream.Question) bool { return q.ID == id })
	if i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
	return i >= 0
}
