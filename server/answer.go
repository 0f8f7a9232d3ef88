package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// answer is what a user says to an agent's question without being asked.
func (c *controls) answer(ctx context.Context, p wire.AnswerParams) (any, error) {
	switch p.Answer {
	case "", ask.Deny, ask.Once, ask.ForLoop, ask.Value:
	default:
		return nil, wire.Invalid("answer", "answer is %q: say deny, once, loop or value", p.Answer)
	}
	w, err := c.waitingFor(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Answer == "" {
		c.permissions.Again(w)
		return wire.AnswerResult{Text: w.Text, Class: wire.ClassWarning}, nil
	}
	return w.Tell(*c.permissions.Said(p.Answer, p.Text))
}

// waitingFor finds the open question that an argument is about: the oldest, if it names none.
func (c *controls) waitingFor(ctx context.Context, p wire.AnswerParams) (found permission.Waiting, err error) {
	askers, err := c.askersOf(ctx, p.LoopParams)
	if err != nil {
		return found, err
	}
	for _, from := range askers {
		for _, w := range from.Waiting() {
			isMeant := (p.LoopID == "" || p.LoopID == w.LoopID) && (p.ID == "" || p.ID == w.ID)
			if isMeant && (found.Asker == nil || w.At.Before(found.At)) {
				found = w
			}
		}
	}
	if found.Asker == nil {
		return found, ask.ErrNoQuestion
	}
	return found, nil
}

func (c *controls) askersOf(ctx context.Context, p wire.LoopParams) (all []permission.Asker, err error) {
	if id := c.remote.Find(p); id != "" {
		return []permission.Asker{c.remote.Loop(id)}, nil
	}
	path := ""
	if p.Folder != "" {
		if path, err = c.workspace.FolderPath(p.Folder); err != nil {
			return nil, err
		}
		c.workspace.LookAt(path)
	}
	c.workspace.AwaitLooks(ctx)
	for _, name := range c.workspace.List() {
		if f := c.workspace.Known(name); f != nil && (path == "" || path == name) {
			all = append(all, f)
		}
	}
	return all, nil
}
