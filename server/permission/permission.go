// Package permission asks the client what agents wait to be told.
package permission

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Requests ask the client what agents wait to be told, of loops here and of those that
// other processes drive.
type Requests struct {
	*session.Session
	deaf atomic.Bool // the client said that it asks, and doesn't know how

	mu    sync.Mutex // held over a look, so that an older one never counts for more
	asked map[askedQuestion]*asking
}

// New returns what asks the client of a session.
func New(e *session.Session) *Requests {
	return &Requests{Session: e, asked: map[askedQuestion]*asking{}}
}

// askedQuestion is an open question of which the client was told.
type askedQuestion struct {
	Asker
	loopID, id string
}

// Asker has a loop that may have questions: a folder, or a remote loop.
type Asker interface {
	Waiting() []Waiting      // the open questions, oldest first
	Within() context.Context // ends when nobody sees the loop any more
	Name() string            // begins what a user is told of it
}

// asking is a request to the client.
type asking struct {
	withdraw context.CancelFunc
	over     bool // the client has answered, if only that it leaves the question open
}

// Waiting is a question that waits for its answer.
type Waiting struct {
	wire.Question
	Asker
	Driven func() (loop.Handle, error) // the loop
}

func (w Waiting) key() askedQuestion { return askedQuestion{w.Asker, w.LoopID, w.ID} }

// Tell answers the agent.
func (w Waiting) Tell(a ask.Answer) (said wire.AnswerResult, err error) {
	l, err := w.Driven()
	if err == nil {
		err = l.Answer(w.ID, a)
	}
	return wire.AnswerResult{Text: wire.AnsweredText(w.Question.Question, a), Class: wire.ClassInfo}, err
}

// LookAgain looks at what some askers were asked.
func (p *Requests) LookAgain(of func(Asker) bool) {
	p.mu.Lock()
	askers := map[Asker]bool{}
	for key := range p.asked {
		if of(key.Asker) {
			askers[key.Asker] = true
		}
	}
	p.mu.Unlock()
	for from := range askers {
		p.Look(from)
	}
}

// Look asks what is new with an asker, and withdraws what needs no answer any more.
func (p *Requests) Look(from Asker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := from.Waiting()
	for key, a := range p.asked {
		if key.Asker == from && !slices.ContainsFunc(open, func(w Waiting) bool { return w.key() == key }) {
			a.withdraw()
			delete(p.asked, key)
		}
	}
	for _, w := range open {
		switch a := p.asked[w.key()]; {
		case a == nil:
			p.ask(w)
			if !p.queues() {
				return
			}
		case !a.over && !p.queues(): // one question of a loop after the other
			return
		}
	}
}

// queues says whether the client takes all questions at once.
func (p *Requests) queues() bool { return p.Editor.Client().Permissions && !p.deaf.Load() }

// ask sends one question. The caller holds mu.
func (p *Requests) ask(w Waiting) {
	ctx, withdraw := context.WithCancel(w.Within())
	a := &asking{withdraw: withdraw}
	p.asked[w.key()] = a
	p.Work.Go(func() {
		defer withdraw()
		answer := p.put(ctx, w)
		if ctx.Err() == nil && answer != nil {
			// else somebody was faster
			if _, err := w.Tell(*answer); err != nil && ctx.Err() == nil && refusal.Reason(err) != wire.ReasonNoQuestion {
				p.Log.Warn("an answer didn't reach the agent", "folder", w.Folder, "error", err)
				p.User.Show(session.MessageWarning, w.Name()+": the answer didn't reach the agent: "+err.Error())
			}
		}
		p.mu.Lock()
		a.over = true
		p.mu.Unlock()
		p.Look(w.Asker) // for the next one
	})
}

// put asks the client, and returns what its user answers; nil leaves the question open.
func (p *Requests) put(ctx context.Context, w Waiting) *ask.Answer {
	if !p.queues() {
		return p.putPlainly(ctx, w)
	}
	var result *wire.PermissionResult
	err := p.Editor.Request(ctx, wire.MethodPermission, w.Question, &result)
	if rpc.IsUnknownMethod(err) {
		p.deaf.Store(true)
		return p.putPlainly(ctx, w)
	}
	if err != nil && ctx.Err() == nil {
		p.Log.Warn("what the editor answers to a question can't be read", "error", err)
	}
	if err != nil || result == nil || result.Answer == "" {
		return nil
	}
	return p.Said(result.Answer, result.Text)
}

func (p *Requests) Said(kind, text string) *ask.Answer {
	return &ask.Answer{Kind: kind, Text: text, By: cmp.Or(p.Editor.Client().Name, "editor")}
}

// putPlainly asks with what every client has: words and buttons.
func (p *Requests) putPlainly(ctx context.Context, w Waiting) *ask.Answer {
	message := w.Name() + " " + wire.AskedInFull(w.Question)
	if !p.User.Mute.Load() {
		var titles []string
		for _, o := range w.Offers {
			titles = append(titles, o.Title)
		}
		chosen := slices.Index(titles, p.User.AskWith(ctx, session.MessageWarning, message, titles...))
		if chosen >= 0 {
			answer := w.Offers[chosen].Arguments[0].(wire.AnswerParams)
			return p.Said(answer.Answer, answer.Text)
		}
	}
	if p.User.Mute.Load() && ctx.Err() == nil {
		p.User.Show(session.MessageWarning, message+"\n"+wire.HowToAnswer)
	}
	return nil
}

// Again asks the client once more what it has left open.
func (p *Requests) Again(w Waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(w.Waiting(), func(other Waiting) bool { return other.key() == w.key() }) {
		return // it was answered a moment ago
	}
	if a := p.asked[w.key()]; a != nil {
		a.withdraw()
	}
	p.ask(w)
}
