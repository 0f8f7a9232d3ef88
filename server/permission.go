package server

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// permissions ask the client what agents wait to be told, of loops here and of those that
// other processes drive.
type permissions struct {
	*env
	deaf atomic.Bool // the client said that it asks, and doesn't know how

	mu    sync.Mutex // held over a look, so that an older one never counts for more
	asked map[askedQuestion]*asking
}

// askedQuestion is an open question of which the client was told.
type askedQuestion struct {
	asker
	loopID, id string
}

// asker is a place whose loop may have questions: a folder, or a loop elsewhere.
type asker interface {
	waiting() []waiting      // the open questions, oldest first
	within() context.Context // ends when nobody sees the loop any more
	name() string            // begins what a user is told of it
}

// asking is a request to the client.
type asking struct {
	withdraw context.CancelFunc
	over     bool // the client has answered, if only that it leaves the question open
}

// waiting is a question that waits for its answer.
type waiting struct {
	wire.Question
	asker
	driven func() (loop.Handle, error) // the loop
}

func (w waiting) key() askedQuestion { return askedQuestion{w.asker, w.LoopID, w.ID} }

// tell answers the agent.
func (w waiting) tell(a ask.Answer) (said wire.AnswerResult, err error) {
	l, err := w.driven()
	if err == nil {
		err = l.Answer(w.ID, a)
	}
	return wire.AnswerResult{Text: wire.AnsweredText(w.Asked(), a), Class: wire.ClassInfo}, err
}

func (f *folder) within() context.Context { return f.ctx }
func (f *folder) name() string {
	f.workspace.mu.Lock()
	now, _ := f.now()
	f.workspace.mu.Unlock()
	return f.workspace.nameOf(now)
}

// waiting lists the open questions of the folder's loop, oldest first; none while the server
// shuts down, or of a folder that is open no more.
func (f *folder) waiting() (all []waiting) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	if f.workspace.closed || f.workspace.folders[f.path] != f {
		return nil
	}
	now, isThere := f.now()
	if !isThere || now.State.Over() {
		return nil
	}
	driven := f.driven()
	for _, q := range now.Questions {
		all = append(all, waiting{wire.QuestionOf(q, now.LoopID, f.path), f, func() (loop.Handle, error) { return driven, nil }})
	}
	return all
}

// lookAgain looks at what some askers were asked.
func (p *permissions) lookAgain(of func(asker) bool) {
	p.mu.Lock()
	askers := map[asker]bool{}
	for key := range p.asked {
		if of(key.asker) {
			askers[key.asker] = true
		}
	}
	p.mu.Unlock()
	for from := range askers {
		p.look(from)
	}
}

// look asks what is new with an asker, and withdraws what needs no answer any more.
func (p *permissions) look(from asker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := from.waiting()
	for key, a := range p.asked {
		if key.asker == from && !slices.ContainsFunc(open, func(w waiting) bool { return w.key() == key }) {
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
func (p *permissions) queues() bool { return p.ed.Client().Permissions && !p.deaf.Load() }

// ask sends one question. The caller holds mu.
func (p *permissions) ask(w waiting) {
	ctx, withdraw := context.WithCancel(w.within())
	a := &asking{withdraw: withdraw}
	p.asked[w.key()] = a
	p.wg.Go(func() {
		defer withdraw()
		answer := p.put(ctx, w)
		if ctx.Err() == nil && answer != nil {
			if _, err := w.tell(*answer); err != nil && ctx.Err() == nil && refusal.Reason(err) != wire.ReasonNoQuestion { // else somebody was faster
				p.log.Warn("an answer didn't reach the agent", "folder", w.Folder, "error", err)
				p.user.show(messageWarning, w.name()+": the answer didn't reach the agent: "+err.Error())
			}
		}
		p.mu.Lock()
		a.over = true
		p.mu.Unlock()
		p.look(w.asker) // for the next one
	})
}

// put asks the client, and returns what its user answers; nil leaves the question open.
func (p *permissions) put(ctx context.Context, w waiting) *ask.Answer {
	if !p.queues() {
		return p.putPlainly(ctx, w)
	}
	var raw json.RawMessage
	err := p.ed.Request(ctx, wire.MethodPermission, w.Question, &raw)
	if rpc.IsUnknownMethod(err) {
		p.deaf.Store(true)
		return p.putPlainly(ctx, w)
	}
	var result *wire.PermissionResult
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	if err != nil && ctx.Err() == nil {
		p.log.Warn("what the editor answers to a question can't be read", "error", err)
	}
	if err != nil || result == nil || result.Answer == "" {
		return nil
	}
	return p.said(result.Answer, result.Text)
}

func (p *permissions) said(kind, text string) *ask.Answer {
	return &ask.Answer{Kind: kind, Text: text, By: cmp.Or(p.ed.Client().Name, "editor")}
}

// putPlainly asks with what every client has: words and buttons.
func (p *permissions) putPlainly(ctx context.Context, w waiting) *ask.Answer {
	message := w.name() + " " + wire.AskedInFull(w.Question)
	if !p.user.mute.Load() {
		var titles []string
		for _, o := range w.Offers {
			titles = append(titles, o.Title)
		}
		chosen := slices.Index(titles, p.user.askWith(ctx, messageWarning, message, titles[0], titles[1:]...))
		if chosen >= 0 {
			answer := w.Offers[chosen].Arguments[0].(wire.AnswerParams)
			return p.said(answer.Answer, answer.Text)
		}
	}
	if p.user.mute.Load() && ctx.Err() == nil {
		p.user.show(messageWarning, message+"\n"+wire.HowToAnswer)
	}
	return nil
}

// again asks the client once more what it has left open.
func (p *permissions) again(w waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(w.waiting(), func(other waiting) bool { return other.key() == w.key() }) {
		return // it was answered a moment ago
	}
	if a := p.asked[w.key()]; a != nil {
		a.withdraw()
	}
	p.ask(w)
}

// answer is what a user says to an agent's question without being asked.
func (c *controls) answer(ctx context.Context, p wire.AnswerParams) (any, error) {
	switch p.Answer {
	case "", ask.Deny, ask.Once, ask.ForLoop, ask.Value:
	default:
		return nil, refusal.Invalid("answer", "answer is %q: say deny, once, loop or value", p.Answer)
	}
	w, err := c.waitingFor(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Answer == "" {
		c.permissions.again(w)
		return wire.AnswerResult{Text: w.Text, Class: wire.ClassWarning}, nil
	}
	return w.tell(*c.permissions.said(p.Answer, p.Text))
}

// waitingFor finds the open question that an argument is about: the oldest, if it names none.
func (c *controls) waitingFor(ctx context.Context, p wire.AnswerParams) (found waiting, err error) {
	askers, err := c.askersOf(ctx, p.LoopParams)
	if err != nil {
		return found, err
	}
	for _, from := range askers {
		for _, w := range from.waiting() {
			isMeant := (p.LoopID == "" || p.LoopID == w.LoopID) && (p.ID == "" || p.ID == w.ID)
			if isMeant && (found.asker == nil || w.At.Before(found.At)) {
				found = w
			}
		}
	}
	if found.asker == nil {
		return found, ask.ErrNoQuestion
	}
	return found, nil
}

func (c *controls) askersOf(ctx context.Context, p wire.LoopParams) (all []asker, err error) {
	if id := c.afar.find(p); id != "" {
		return []asker{askerAfar{c.afar, id}}, nil
	}
	path := ""
	if p.Folder != "" {
		if path, err = c.workspace.folderPath(p.Folder); err != nil {
			return nil, err
		}
		c.lookout.lookAt(path)
	}
	c.workspace.awaitLooks(ctx)
	for _, name := range c.workspace.list() {
		if f := c.workspace.known(name); f != nil && (path == "" || path == name) {
			all = append(all, f)
		}
	}
	return all, nil
}

// disallow takes back what the agent may do in a loop.
func (c *controls) disallow(ctx context.Context, p wire.LoopParams, rules []string) (wire.LoopResult, error) {
	result, err := c.change(ctx, p, func(l loop.Handle) error {
		for _, rule := range rules {
			if err := l.Disallow(rule); err != nil {
				return err
			}
		}
		return nil
	})
	result.Text = wire.DisallowedText(rules)
	return result, err
}
