package fleet

import (
	"context"
	"slices"
	"time"
)

// What is wrong may be of this machine: an agent that isn't installed, a login, a disk. So a loop
// that failed here is left to another worker, and so are others when they fail one after the other.
// Else such a machine, which is the quickest of all, ends every loop that it can get.

const (
	leaveFor = 2 * time.Second  // until a loop that is left to others is looked at again
	maxRest  = 30 * time.Second // of a slot behind an attempt that failed
)

// areOthers says whether a worker is there that is none of these.
func (w *Worker) areOthers(ctx context.Context, these []string) bool {
	all, err := w.Bus.Workers(ctx)
	return err == nil && slices.ContainsFunc(all, func(p Presence) bool { return !slices.Contains(these, p.Name) })
}

// judge takes note of how an attempt went here.
func (w *Worker) judge(problem error) {
	w.trouble.Lock()
	defer w.trouble.Unlock()
	if w.failed++; problem == nil {
		w.failed, w.problem = 0, ""
		return
	}
	w.problem = clip(problem.Error())
}

// judged returns how many attempts failed here in a row, and why the last one did.
func (w *Worker) judged() (failed int, problem string) {
	w.trouble.Lock()
	defer w.trouble.Unlock()
	return w.failed, w.problem
}

// rest keeps a slot from its next loop: the longer, the more attempts failed here. While nobody else is there it doesn't.
func (w *Worker) rest(ctx context.Context) {
	if failed, _ := w.judged(); failed > 0 && w.areOthers(ctx, []string{w.Name}) {
		Pause(ctx, min(time.Second<<min(failed, 10), maxRest))
	}
}

// askAlive is how long a worker may take to say that it runs a loop.
const askAlive = 2 * time.Second

// isRun says whether somebody runs an iteration of a loop. In a queue that was made anew, it is there to be taken.
func (w *Worker) isRun(ctx context.Context, id string) bool {
	within, cancel := context.WithTimeout(ctx, askAlive)
	defer cancel()
	_, err := w.Bus.Ask(within, id, []byte("{}"))
	return err == nil
}
