package answers

import (
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Review is what a document shows of a loop's changes; the zero value is nothing.
type Review struct {
	Loop       wire.LoopParams
	Text       string // "4 files, +12 -3"; "" for no changes
	Iterations []ChangedIteration
	CanRedo    bool
}

// ReviewOf is what there is to show of the changes of a loop.
func ReviewOf(of wire.LoopParams, files []changes.File, iterations []changes.Iteration, canRedo bool) Review {
	r := Review{Loop: of, CanRedo: canRedo}
	if len(files) > 0 {
		r.Text = SumText(changes.Sum(files))
	}
	for _, it := range iterations {
		r.Iterations = append(r.Iterations, ChangedIteration{it.Number, it.Summary, SumText(it.Summary)})
	}
	return r
}

// show shows what an iteration changed; 0: the whole loop.
func (r Review) show(title string, iteration int) wire.Command {
	p := wire.ChangesParams{LoopParams: r.Loop, Show: true}
	if iteration > 0 {
		p.From, p.To = iteration-1, &iteration
	}
	return wire.Command{Title: title, Command: wire.CommandChanges, Arguments: []any{p}}
}

// Lenses are the commands that stand at a loop's documents: its changes, and those
// of the last iteration that changed something.
func (r Review) Lenses() (lenses []wire.Command) {
	if r.Text != "" {
		lenses = append(lenses, r.show("Changes: "+r.Text, 0))
	}
	if n := len(r.Iterations); n > 0 {
		last := r.Iterations[n-1]
		lenses = append(lenses, r.show(fmt.Sprintf("Changes of iteration %d: %s", last.Iteration, last.Text), last.Iteration))
	}
	return lenses
}

// Actions are what can be done with the changes: of the last iterations, the
// newest one first.
func (r Review) Actions() (actions []wire.Command) {
	const most = 3
	for _, it := range slices.Backward(r.Iterations[max(len(r.Iterations)-most, 0):]) {
		undo := wire.Command{Title: fmt.Sprintf("Undo iteration %d", it.Iteration), Command: wire.CommandUndo,
			Arguments: []any{UndoParams{LoopParams: r.Loop, Iteration: it.Iteration}}}
		actions = append(actions, r.show(fmt.Sprintf("Show what iteration %d changed", it.Iteration), it.Iteration), undo)
	}
	if r.CanRedo {
		actions = append(actions, wire.Command{Title: "Redo what was undone last", Command: wire.CommandRedo, Arguments: []any{r.Loop}})
	}
	return actions
}
