package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// What windows ask of a loop by its socket, in the words of tests.

func (l *Loop) Cancel()                   { l.stop(caller.Cancel) }
func (l *Loop) CancelAfterIteration()     { _ = l.own(loop.Request{Do: loop.DoLast}) }
func (l *Loop) Pause() error              { return l.own(loop.Request{Do: loop.DoPause}) }
func (l *Loop) Resume(p loop.Patch) error { return l.own(loop.Request{Do: caller.Resume, Patch: p}) }
func (l *Loop) Update(p loop.Patch) error { return l.own(loop.Request{Do: caller.Update, Patch: p}) }
func (l *Loop) Disallow(rule string) error {
	return l.own(loop.Request{Do: loop.DoDisallow, Steering: loop.Steering{Text: rule}})
}

func (l *Loop) Steer(q loop.Steering) (id string, err error) {
	a := l.ask(own(loop.Request{Do: caller.Steer, Steering: q}))
	return a.id, a.err
}

func (l *Loop) Next() (iteration int, err error) {
	a := l.ask(own(loop.Request{Do: caller.Next}))
	return a.iteration, a.err
}

func (l *Loop) IsLive() bool {
	live, _ := asked(l, time.After(statusPatience), func(answer func(bool)) { answer(l.engine.state.IsLive()) })
	return live
}
