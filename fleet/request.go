package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Request is what the worker that runs a loop's iteration is asked to do with it.
type Request struct {
	Command string          `json:"command"` // wire.CommandAnswer, CommandNext or CommandUpdate
	Params  json.RawMessage `json:"params"`  // as the wire has them; their loopId and folder say nothing
	By      string          `json:"by,omitempty"`
}

// Reply is what came of a Request: Result as the wire has it, or Failure.
type Reply struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Failure *Refusal        `json:"error,omitempty"`
}

// Refusal says why nothing came of a request.
type Refusal struct {
	Reason  string `json:"reason,omitempty"` // of the wire
	Key     string `json:"key,omitempty"`    // of the argument that is wrong
	Message string `json:"message"`
}

// AskWorker has the worker that runs a loop's iteration carry out a command, with the
// parameters that the wire has for it, and reads what came of it into result. by is who
// asks, for the agent. Errors are ErrNobody, of type *wire.Failure, or the bus'.
func AskWorker(ctx context.Context, bus Bus, id, command, by string, params, result any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	request, err := json.Marshal(Request{command, text, by})
	if err != nil {
		return err
	}
	answer, err := bus.Ask(ctx, id, request)
	if err != nil {
		return err
	}
	var reply Reply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return fmt.Errorf("the worker's answer: %w", err)
	}
	if f := reply.Failure; f != nil {
		return &wire.Failure{Reason: f.Reason, Key: f.Key, Err: errors.New(f.Message)}
	}
	return json.Unmarshal(reply.Result, result)
}

// asked answers what is asked of the loop in a checkout while its iteration runs.
type asked struct {
	ctx context.Context // of the iteration: done when it is lost or cancelled

	mu   sync.Mutex
	tree string // "": it has ended
}

// end has nothing done with the checkout any more.
func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tree = ""
}

// answer carries out a request. Once the loop is another worker's it is silent.
func (a *asked) answer(text []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(context.Cause(a.ctx), ErrNotOur) {
		return nil
	}
	var reply Reply
	result, err := a.do(text)
	if err == nil {
		reply.Result, err = json.Marshal(result)
	}
	if err != nil {
		reply = Reply{Failure: refusalOf(err)}
	}
	data, _ := json.Marshal(reply) // texts can always be encoded
	return data
}

func (a *asked) do(text []byte) (any, error) {
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if a.tree == "" || a.ctx.Err() != nil {
		return nil, loop.ErrNotRunning
	}
	switch r.Command {
	case wire.CommandAnswer:
		var p wire.AnswerParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return nil, err
		}
		return answerIn(a.tree, p, r.By)
	case wire.CommandNext:
		iteration, err := loop.Other{Folder: a.tree}.Next()
		return wire.LoopResult{Iteration: iteration, Text: wire.NextText(iteration)}, err
	case wire.CommandUpdate:
		var p wire.ChangeParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return nil, err
		}
		return updateIn(a.tree, p)
	case wire.CommandResume: // it tries again at once
		return wire.LoopResult{}, loop.Other{Folder: a.tree}.Resume(loop.Patch{})
	}
	return nil, fmt.Errorf("this worker doesn't know how to do %s: it may be of an older version", r.Command)
}

// answerIn answers a question of the loop in a checkout.
func answerIn(tree string, p wire.AnswerParams, by string) (any, error) {
	now, _, owned, err := loop.FolderStatus(tree)
	if err != nil || !owned {
		return nil, errors.Join(loop.ErrNotRunning, err)
	}
	i := slices.IndexFunc(now.Questions, func(q ask.Question) bool { return p.ID == "" || q.ID == p.ID })
	if i < 0 {
		return nil, ask.ErrNoQuestion
	}
	a := ask.Answer{Kind: p.Answer, Text: p.Text, By: by}
	driven := loop.Other{Folder: tree}
	if err := driven.Answer(now.Questions[i].ID, a); err != nil {
		return nil, err
	}
	return wire.AnswerResult{Text: wire.AnsweredText(now.Questions[i], a), Class: wire.ClassInfo}, nil
}

// updateIn changes limits, promise, prompt and what is allowed of the loop in a checkout: all
// of it or, as far as can be known before, nothing.
func updateIn(tree string, p wire.ChangeParams) (any, error) {
	patch, err := p.Patch()
	if patch.Prompt = p.Prompt; err != nil {
		return nil, err
	}
	if p.Prompt != nil && strings.TrimSpace(*p.Prompt) == "" {
		return nil, loop.ErrEmptyPrompt
	}
	now, _, _, err := loop.FolderStatus(tree)
	if err != nil {
		return nil, err
	}
	for _, rule := range p.Disallow {
		if !slices.Contains(now.Allowed, rule) {
			return nil, fmt.Errorf("nothing allows %s in this loop", rule)
		}
	}
	driven := loop.Other{Folder: tree}
	if patch != (loop.Patch{}) {
		if err := driven.Update(patch); err != nil {
			return nil, err
		}
	}
	for _, rule := range p.Disallow {
		if err := driven.Disallow(rule); err != nil {
			return nil, err
		}
	}
	if patch == (loop.Patch{}) {
		return wire.LoopResult{Text: wire.DisallowedText(p.Disallow)}, nil
	}
	now, _, _, err = loop.FolderStatus(tree)
	return wire.LoopResult{Text: now.Limits.Line(now.Promise)}, err
}

// refusalOf says for a program why something can't be done.
func refusalOf(err error) *Refusal {
	r := &Refusal{Message: err.Error()}
	var limit *limits.Error
	switch {
	case errors.As(err, new(*ask.AnswerError)):
		r.Key = "answer"
	case errors.Is(err, ask.ErrNoQuestion):
		r.Reason = wire.ReasonNoQuestion
	case errors.Is(err, loop.ErrNotRunning):
		r.Reason = wire.ReasonNotRunning
	case errors.Is(err, loop.ErrNoRun):
		r.Reason = wire.ReasonNoRun
	case errors.Is(err, loop.ErrEmptyPrompt):
		r.Reason = wire.ReasonEmptyPrompt
	case errors.As(err, &limit):
		r.Key = limit.Limit.Wire
	}
	return r
}

// PatchOf reads new limits of a loop: as parameters, and as a person types them.
func (r Record) PatchOf(given wire.LimitParams, text string) (loop.Patch, error) {
	patch, err := given.Patch()
	if err != nil || strings.TrimSpace(text) == "" {
		return patch, err
	}
	said, err := start.ParseChange(text, r.Limits(), loop.StopReason(r.StopReason).Ending().Limit)
	if err != nil {
		return patch, &wire.Failure{Key: "text", Err: err}
	}
	return patch.Or(said), nil
}

// UpdateLoop changes what bounds a loop, and its promise, for good: the iteration that runs
// and all others obey. Its prompt and what it is allowed can be changed while one runs. All
// is taken or nothing.
func UpdateLoop(ctx context.Context, bus Bus, id, by string, p wire.ChangeParams) (result wire.LoopResult, err error) {
	r, _, err := bus.Get(ctx, id)
	if err != nil {
		return result, err
	}
	patch, err := r.PatchOf(p.LimitParams, p.Text)
	if err != nil {
		return result, err
	}
	p.LimitParams, p.Text = wire.LimitParams{Message: patch.Message(), CompletionPromise: patch.Promise}, ""
	if err := r.Bound(patch); err != nil { // before anybody is told
		return result, err
	}
	tell := func() error { return AskWorker(ctx, bus, id, wire.CommandUpdate, by, p, &result) }
	err = tell()
	var refused *wire.Failure
	isIdle := errors.Is(err, ErrNobody) || errors.As(err, &refused) && refused.Reason == wire.ReasonNotRunning
	if err != nil && !(isIdle && p.Prompt == nil && len(p.Disallow) == 0) {
		return result, err
	}
	r, err = Change(ctx, bus, id, func(r *Record) error { return r.Bound(patch) })
	switch {
	case err != nil && !isIdle:
		return result, fmt.Errorf("the iteration that runs obeys, but the loop hasn't kept it for the next ones: %w; say it again", err)
	case err != nil:
		return result, err
	case isIdle && tell() != nil: // an iteration may have begun meanwhile
		result.Text = r.Limits().Line("")
	}
	return result, nil
}
