// Package request is what the worker that runs a loop's iteration is asked to do with it, and how it does that.
package request

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

// ErrNotOur is the cause of the end of an iteration whose loop another worker has.
var ErrNotOur = errors.New("another worker has the loop by now")

// Asker is the part of a bus that asks a loop's worker.
type Asker interface {
	Ask(ctx context.Context, id string, request []byte) ([]byte, error)
}

// Send has the worker that runs a loop's iteration carry out a command, with the
// parameters that the wire has for it, and reads what came of it into result. by is who
// asks, for the agent. Errors are of type *wire.Failure, or the bus'.
func Send(ctx context.Context, bus Asker, id, command, by string, params, result any) error {
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
		return f.err()
	}
	return json.Unmarshal(reply.Result, result)
}

// Asked answers what is asked of the loop in a checkout while its iteration runs.
type Asked struct {
	Ctx context.Context // of the iteration: done when it is lost or cancelled

	mu   sync.Mutex
	Tree string // "": there is none now
}

// Begin has things done with a checkout from now on.
func (a *Asked) Begin(tree string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Tree = tree
}

// End has nothing done with the checkout any more.
func (a *Asked) End() { a.Begin("") }

// Answer carries out a request. Once the loop is another worker's it is silent.
func (a *Asked) Answer(text []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(context.Cause(a.Ctx), ErrNotOur) {
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

func (a *Asked) do(text []byte) (any, error) {
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if a.Tree == "" || a.Ctx.Err() != nil {
		return nil, loop.ErrNotRunning
	}
	switch r.Command {
	case wire.CommandAnswer:
		var p wire.AnswerParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return nil, err
		}
		return answerIn(a.Tree, p, r.By)
	case wire.CommandNext:
		iteration, err := loop.Other{Folder: a.Tree}.Next()
		return wire.LoopResult{Iteration: iteration, Text: wire.NextText(iteration)}, err
	case wire.CommandUpdate:
		var p wire.ChangeParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return nil, err
		}
		return updateIn(a.Tree, p)
	case wire.CommandResume: // it tries again at once
		return wire.LoopResult{}, loop.Other{Folder: a.Tree}.Resume(loop.Patch{})
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
	err = loop.Other{Folder: tree}.Answer(now.Questions[i].ID, a)
	return wire.AnswerResult{Text: wire.AnsweredText(now.Questions[i], a), Class: wire.ClassInfo}, err
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

// refusals are the reasons of errors that arrive as what they are.
var refusals = map[string]error{
	wire.ReasonNoQuestion: ask.ErrNoQuestion, wire.ReasonNotRunning: loop.ErrNotRunning, wire.ReasonNoRun: loop.ErrNoRun, wire.ReasonEmptyPrompt: loop.ErrEmptyPrompt,
}

// refusalOf says for a program why something can't be done.
func refusalOf(err error) *Refusal {
	r := &Refusal{Message: err.Error()}
	for reason, known := range refusals {
		if errors.Is(err, known) {
			r.Reason = reason
		}
	}
	if errors.As(err, new(*ask.AnswerError)) {
		r.Key = "answer"
	} else if limit := (*limits.Error)(nil); errors.As(err, &limit) {
		r.Key = limit.Limit.Wire
	}
	return r
}

func (r *Refusal) err() error {
	var why error = as{r.Message, refusals[r.Reason]}
	if r.Key == "answer" {
		why = &ask.AnswerError{Why: r.Message}
	}
	return &wire.Failure{Reason: r.Reason, Key: r.Key, Err: why}
}

// as is an error that others know, in words of its own.
type as struct {
	text  string
	known error // nil: none
}

func (e as) Error() string { return e.text }
func (e as) Unwrap() error { return e.known }
