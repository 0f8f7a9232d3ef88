package service

import (
	"cmp"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A Command is a request to a loop while it lives. The driver of the loop decides whether the asker may have it
// (internal/caller).
type Command interface {
	// do asks the loop, and says in one line what comes of it; "" for a command after which people
	// are told what bounds the loop.
	do(l loop.Handle, done *Done) (text string, err error)
}

// The commands.
type (
	// Pause lets the iteration under way finish, and no other begin.
	Pause struct{}
	// Next ends the iteration under way, and the next one begins.
	Next struct{}
	// Last lets the loop end behind the iteration under way.
	Last struct{}
	// Interrupt ends the loop so that it can go on. It doesn't wait for that.
	Interrupt struct{}
	// Detach lets the loop go on without the windows that own it.
	Detach struct{}
	// Resume lets a loop go on that is paused or waits, with the changes of the patch. One run is told Say.
	Resume struct {
		Patch loop.Patch
		Say   string
	}
	// Update takes back rules of what the agent may do, and then changes limits, promise and prompt.
	Update struct {
		Patch    loop.Patch
		Disallow []string
	}
	// Steer tells the agents something, or takes it back.
	Steer struct{ loop.Steering }
	// Answer answers an agent's question.
	Answer struct {
		Question ask.Question
		Said     ask.Answer
	}
)

// Done is what came of a command: where it left the loop, and a line of text.
type Done struct {
	wire.LoopResult
	GuidanceID string // of Steer: names the text in updates; "": another process delivers it
}

// Do sends a command to a loop, wherever it is driven. Its errors are those of loop.Handle.
func (s *Service) Do(l loop.Handle, c Command) (done Done, err error) {
	text, err := c.do(l, &done)
	if err != nil {
		return Done{}, err
	}
	if done.LoopResult = after(l); text != "" {
		done.Text = text
	}
	if done.Text == "" {
		done.Text = Bounds(l.Status())
	}
	return done, nil
}

// after is where a command has left a loop.
func after(l loop.Handle) wire.LoopResult {
	if far, ok := l.(RemoteLoop); ok {
		return far.Result()
	}
	return ResultOf(l.Status())
}

// ResultOf is where a loop stands, as commands answer it.
func ResultOf(st loop.Status) wire.LoopResult {
	return wire.LoopResult{LoopID: st.LoopID, State: string(st.State), Iteration: st.Iteration}
}

// Bounds says what bounds a loop.
func Bounds(st loop.Status) string { return st.Limits.Line(wire.OneLine(st.Promise)) }

func (Pause) do(l loop.Handle, _ *Done) (string, error) {
	if err := l.Pause(); err != nil {
		return "", err
	}
	if after(l).State == string(loop.StatePaused) {
		return "the loop is paused", nil
	}
	return "the loop pauses after this iteration", nil
}

func (Next) do(l loop.Handle, _ *Done) (string, error) {
	iteration, err := l.Next()
	return wire.NextText(iteration), err
}

func (Last) do(l loop.Handle, _ *Done) (string, error) {
	if here, ok := l.(local); ok {
		return "the loop ends after this iteration", here.CancelAfterIteration()
	}
	return "", wire.Unable(l.Status().LoopID, wire.EndsAtOnce)
}

func (Interrupt) do(l loop.Handle, _ *Done) (string, error) {
	if here, ok := l.(local); ok {
		return "the loop is being interrupted; it can be resumed", here.Interrupt()
	}
	return "", wire.Unable(l.Status().LoopID, wire.EndsAtOnce)
}

// local is a loop of this machine: one of another can only be cancelled.
type local interface {
	CancelAfterIteration() error
	Interrupt() error
}

func (Detach) do(l loop.Handle, _ *Done) (string, error) {
	_, err := l.Detach()
	return wire.DetachedText, err
}

func (c Resume) do(l loop.Handle, _ *Done) (string, error) {
	if c.Say != "" {
		if _, err := l.Steer(loop.Steering{Text: c.Say, Once: true}); err != nil {
			return "", err
		}
	}
	return "", l.Resume(c.Patch)
}

func (c Update) do(l loop.Handle, _ *Done) (string, error) {
	for _, rule := range c.Disallow {
		if err := l.Disallow(rule); err != nil {
			return "", err
		}
	}
	if c.Patch == (loop.Patch{}) && len(c.Disallow) > 0 {
		return wire.DisallowedText(c.Disallow), nil
	}
	return "", l.Update(c.Patch)
}

func (c Steer) do(l loop.Handle, done *Done) (text string, err error) {
	live := l.IsLive()
	done.GuidanceID, err = l.Steer(c.Steering)
	text = c.Answer(live)
	if far, ok := l.(RemoteLoop); ok && err == nil {
		text = cmp.Or(far.Result().Text, text)
	}
	return text, err
}

func (c Answer) do(l loop.Handle, _ *Done) (string, error) {
	return wire.AnsweredText(c.Question, c.Said), l.Answer(c.Question.ID, c.Said)
}
