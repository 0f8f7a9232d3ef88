package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Finder finds the loops that a client's parameters name.
type Finder interface {
	// Driven is the loop for who commands it, and how it stood where a process drives it that this one is no window of.
	// loop.ErrNotRunning says that there is none. With another error and an owner, the loop can be ended all the same.
	Driven(ctx context.Context, p wire.LoopParams) (h loop.Handle, seen loop.Status, err error)
	// Which is the loop for who looks at what it changed.
	Which(ctx context.Context, p wire.LoopParams) (Which, error)
	// Trees are the folders in which the worktree of a loop is looked for.
	Trees(ctx context.Context, p wire.LoopParams) ([]string, error)
}

// Commands carry out the commands of docs/PROTOCOL.md about loops that there are, for one face. Their errors are told as
// FailureOf says.
type Commands struct {
	Service *Service
	Find    Finder
}

// OwnLoop is a loop that the face is a window of.
type OwnLoop interface {
	loop.Handle
	// Cancel ends the loop, and returns when the face has told that.
	Cancel() error
	Owns() bool
}

// Ask asks a loop for something, wherever it is driven.
func (c Commands) Ask(ctx context.Context, p wire.LoopParams, command Command) (Done, error) {
	h, _, err := c.Find.Driven(ctx, p)
	if err != nil {
		return Done{}, err
	}
	return c.Service.Do(h, command)
}

// Asks is a command without an argument of its own.
func (c Commands) Asks(command Command) func(context.Context, wire.LoopParams) (wire.LoopResult, error) {
	return func(ctx context.Context, p wire.LoopParams) (wire.LoopResult, error) {
		done, err := c.Ask(ctx, p, command)
		return done.LoopResult, err
	}
}

// NoLoop is what there is where no loop is.
var NoLoop = wire.LoopResult{State: wire.StateIdle, Text: wire.NothingRuns}

// Cancel ends a loop. It returns when its agent and all that it started are gone.
func (c Commands) Cancel(ctx context.Context, p wire.CancelParams) (result wire.LoopResult, err error) {
	switch p.When {
	case "", wire.WhenNow:
		result, err = c.cancel(ctx, p.LoopParams)
	case wire.WhenInterrupt:
		return c.Asks(Interrupt{})(ctx, p.LoopParams)
	case wire.WhenAfterIteration:
		result, err = c.Asks(Last{})(ctx, p.LoopParams)
	case wire.WhenLeft:
		result, err = c.discard(ctx, p.LoopParams)
	default:
		return result, wire.Invalid("when", "when is %q: say now, afterIteration, interrupt or left", p.When)
	}
	if f := FailureOf(err); f != nil && f.Reason == wire.ReasonNotRunning {
		return NoLoop, nil
	}
	return result, err
}

func (c Commands) cancel(ctx context.Context, p wire.LoopParams) (result wire.LoopResult, err error) {
	h, seen, err := c.Find.Driven(ctx, p)
	if err != nil && seen.Owner == nil {
		return result, err
	}
	switch l := h.(type) {
	case RemoteLoop:
		err := l.Cancel()
		return l.Result(), err
	case OwnLoop:
		if err := l.Cancel(); err != nil {
			return result, err
		}
		if seen = l.Status(); !seen.CanGoOn() {
			if result = ResultOf(seen); !l.Owns() { // its end may be told nowhere here
				result.Text = CancelledText(seen.Folder)
			}
			return result, nil
		}
		h = loop.Other{Folder: seen.Folder, LoopID: seen.LoopID} // it had ended by itself: a user who cancels it doesn't want it to go on
	}
	other := h.(loop.Other)
	result, err = c.Service.Cancel(ctx, other.Folder, other.LoopID)
	if result.LoopID = seen.LoopID; result.LoopID == "" && seen.Owner != nil {
		result.LoopID = seen.Owner.LoopID
	}
	return result, err
}

// Cancel ends the loop with an id in a folder, "" for whichever is there, and returns when nothing of it is left. A loop
// that nobody drives is discarded.
//
// Errors: loop.ErrNotRunning where there is none, and those of loop.CancelFolder.
func (s *Service) Cancel(ctx context.Context, folder, loopID string) (wire.LoopResult, error) {
	iteration, err := loop.CancelFolder(ctx, folder, loopID)
	if err != nil {
		return wire.LoopResult{Iteration: iteration}, err
	}
	return wire.LoopResult{LoopID: loopID, State: string(loop.StateEnded), Iteration: iteration, Text: CancelledText(folder)}, nil
}

// CancelledText says that the loop of a folder is cancelled.
func CancelledText(folder string) string {
	return "the loop in " + wire.OneLine(filepath.Base(folder)) + " is cancelled"
}

// discard removes a loop that nobody drives. One that somebody goes on with by now stays.
func (c Commands) discard(ctx context.Context, p wire.LoopParams) (result wire.LoopResult, err error) {
	h, _, err := c.Find.Driven(ctx, p)
	if err != nil {
		return result, err
	}
	var folder string
	switch l := h.(type) {
	case RemoteLoop:
		return result, wire.Unable(l.Status().LoopID, wire.EndsAtOnce)
	case OwnLoop:
		folder = l.Status().Folder
	case loop.Other:
		folder = l.Folder
	}
	result = wire.LoopResult{State: wire.StateIdle, Text: "the loop in " + wire.OneLine(filepath.Base(folder)) + " is discarded"}
	return result, loop.DiscardFolder(folder, p.LoopID)
}

// Resume lets a loop go on that some process drives. Its error is loop.ErrNotRunning where none does.
func (c Commands) Resume(ctx context.Context, p wire.ResumeParams) (wire.LoopResult, error) {
	patch, err := c.change(ctx, p.LoopParams, p.Given, p.Text)
	if err != nil {
		return wire.LoopResult{}, err
	}
	patch.Accept = p.Accept
	return c.Asks(Resume{Patch: patch, Say: p.Say})(ctx, p.LoopParams)
}

// Update changes limits and promise at once, the prompt with the next iteration.
func (c Commands) Update(ctx context.Context, p wire.ChangeParams) (wire.LoopResult, error) {
	patch, err := c.change(ctx, p.LoopParams, p.Given, p.Text)
	if err != nil {
		return wire.LoopResult{}, err
	}
	if p.Prompt != nil && strings.TrimSpace(*p.Prompt) == "" {
		return wire.LoopResult{}, loop.ErrEmptyPrompt
	}
	patch.Prompt = p.Prompt
	return c.Asks(Update{Patch: patch, Disallow: p.Disallow})(ctx, p.LoopParams)
}

// change is what limits and a text change, as a person types it, of a loop.
func (c Commands) change(ctx context.Context, p wire.LoopParams, given limits.Given, text string) (loop.Patch, error) {
	var now loop.Status // of none, nothing is known
	if strings.TrimSpace(text) != "" {
		if h, _, err := c.Find.Driven(ctx, p); err == nil {
			// "+1" adds to what the loop has now, whoever changed that, and not to what its agent may write into a file. The
			// answer to a request comes behind how the loop stands; what is wrong with it is wrong with the command, too.
			if _, isOwn := h.(OwnLoop); isOwn {
				_ = h.Update(loop.Patch{})
			}
			now = h.Status()
		}
	}
	return ChangeOf(now, given, text)
}

// ChangeOf is what limits and a text change of a loop that stands so.
func ChangeOf(now loop.Status, given limits.Given, text string) (loop.Patch, error) {
	patch, err := PatchOf(given)
	if err != nil || strings.TrimSpace(text) == "" {
		return patch, err
	}
	said, err := start.ParseChange(text, now.Limits, now.StopReason.Ending().Limit)
	if err != nil {
		return patch, wire.Invalid("text", "%v", err)
	}
	if said.Promise != nil {
		err = CheckPromise(*said.Promise)
	}
	return patch.Or(said), err
}

// Steer tells a loop's agents something.
func (c Commands) Steer(ctx context.Context, p wire.SteerParams) (wire.SteerResult, error) {
	said, err := loop.ParseSteering(p.Text)
	if err != nil {
		return wire.SteerResult{}, wire.Invalid("text", "text: %v", err)
	}
	said.Next, said.Once = said.Next || p.Next, said.Once || p.Once
	done, err := c.Ask(ctx, p.LoopParams, Steer{said})
	return wire.SteerResult{GuidanceID: done.GuidanceID, Text: done.Text}, err
}

// Work finds what the loop changed that parameters name.
func (c Commands) Work(ctx context.Context, p wire.LoopParams) (Work, error) {
	which, err := c.Find.Which(ctx, p)
	if err != nil {
		return Work{}, err
	}
	return c.Service.Work(ctx, which)
}

// File is Work.File of the loop that parameters name.
func (c Commands) File(ctx context.Context, p answers.FileParams) (result answers.FileResult, err error) {
	work, err := c.Work(ctx, p.LoopParams)
	if err != nil {
		return result, err
	}
	return work.File(ctx, p)
}

// Changes is Work.Changes.
func (c Commands) Changes(ctx context.Context, p wire.ChangesParams) (result answers.ChangesResult, document string, err error) {
	work, err := c.Work(ctx, p.LoopParams)
	if err != nil {
		return result, "", err
	}
	return work.Changes(ctx, p)
}

// Keep is Work.Keep.
func (c Commands) Keep(ctx context.Context, p answers.KeepParams) (result answers.KeepResult, err error) {
	work, err := c.Work(ctx, p.LoopParams)
	if err != nil {
		return result, err
	}
	return work.Keep(ctx, p)
}

// Undo finds what an undo is of, and returns what undoes it, or with a dry run tells what that would do.
func (c Commands) Undo(ctx context.Context, p answers.UndoParams) (undo func(dryRun bool) (answers.UndoResult, error), of Work, err error) {
	paths, err := pathsFrom(p.Paths)
	u := changes.Undo{Iteration: p.Iteration, Since: p.Since, Paths: paths, Merge: p.Merge}
	if err == nil {
		err = CheckUndo(u) // before a loop is looked for
	}
	if err == nil {
		of, err = c.Work(ctx, p.LoopParams)
	}
	if err != nil {
		return nil, of, err
	}
	p.LoopParams = wire.LoopParams{LoopID: of.LoopID, Folder: wire.FileURI(of.Folder)} // the offers are about this one
	return func(dryRun bool) (answers.UndoResult, error) {
		p.DryRun, u.DryRun = dryRun, dryRun
		done, err := of.Undo(ctx, u)
		return answers.UndoneBy(p, done), err
	}, of, nil
}

// Redo takes the last undo back.
func (c Commands) Redo(ctx context.Context, p answers.RedoParams) (result answers.UndoResult, of Work, err error) {
	if of, err = c.Work(ctx, p.LoopParams); err != nil {
		return result, of, err
	}
	verb := "redone"
	if p.DryRun {
		verb = "would be redone"
	}
	done, err := of.Redo(ctx, p.DryRun)
	result = answers.UndoneOf(done, verb)
	if errors.Is(err, changes.ErrNothingToRedo) {
		result.Text, err = err.Error(), nil
	}
	return result, of, err
}

// Land brings what a loop did in its worktree to the user's branch, or discards it. A discard that isn't confirmed is
// asked for with confirm, or answers with the question where that is nil.
func (c Commands) Land(ctx context.Context, p wire.LandParams,
	confirm func(question string) bool) (said answers.LandResult, folder string, err error) {
	if err := p.Typed(); err != nil {
		return said, "", wire.Invalid("text", "%v", err)
	}
	trees, err := c.Find.Trees(ctx, p.LoopParams)
	if err != nil {
		return said, "", err
	}
	tree, err := c.Service.Tree(Which{LoopID: p.LoopID, Folders: trees})
	if err != nil {
		return said, "", err
	}
	p.LoopParams = wire.LoopParams{LoopID: p.LoopID, Folder: wire.FileURI(tree.Folder)} // of no other loop
	switch {
	case !p.Discard:
		said, _, err = c.Service.Land(ctx, tree, p)
	default:
		said, err = c.Service.Discard(ctx, tree, p)
		if err != nil || p.Confirmed || p.DryRun || confirm == nil {
			break
		}
		if !confirm(said.Text) {
			return answers.NothingDiscarded(), tree.Folder, nil
		}
		p.Confirmed = true
		said, err = c.Service.Discard(ctx, tree, p)
	}
	if refused, ok := errors.AsType[*worktree.Refused](err); ok {
		said, err = answers.LandRefused(p, refused), nil
	}
	return said, tree.Folder, err
}

// inFolders finds loops by their folders, which are named always.
type inFolders struct{}

// Driven implements Finder.
func (inFolders) Driven(_ context.Context, p wire.LoopParams) (loop.Handle, loop.Status, error) {
	folder, err := pathOf(p.Folder)
	return loop.Other{Folder: folder, LoopID: p.LoopID}, loop.Status{Folder: folder, LoopID: p.LoopID}, err
}

// Which implements Finder.
func (inFolders) Which(_ context.Context, p wire.LoopParams) (Which, error) {
	folder, err := pathOf(p.Folder)
	w := Which{LoopID: p.LoopID, Folders: []string{folder}}
	if e, ok := registry.Find(p.LoopID); ok && e.Folder != folder { // it is in a worktree
		w.Folders = append(w.Folders, e.Folder)
	}
	return w, err
}

// Trees implements Finder.
func (inFolders) Trees(_ context.Context, p wire.LoopParams) ([]string, error) {
	folder, err := pathOf(p.Folder)
	return []string{folder}, err
}

func (w *Window) commands() Commands { return Commands{w.service(), inFolders{}} }

// Run carries out a command of docs/PROTOCOL.md with its argument, about the loop of a folder, and says what came of it.
func (w *Window) Run(ctx context.Context, c wire.Command) (wire.Notice, error) {
	result, err := w.run(ctx, c)
	return answers.AnswerOf(result), asTold(err)
}

func (w *Window) run(ctx context.Context, command wire.Command) (result any, err error) {
	if err := caller.Check(command.Command); err != nil {
		return nil, err
	}
	c := w.commands()
	switch p := command.Arguments[0].(type) {
	case wire.CancelParams:
		return c.Cancel(ctx, p)
	case wire.ChangeParams:
		return c.Update(ctx, p)
	case wire.ResumeParams:
		return c.Resume(ctx, p)
	case wire.SteerParams:
		return c.Steer(ctx, p)
	case wire.ChangesParams:
		result, _, err = c.Changes(ctx, p)
		return result, err
	case answers.UndoParams:
		undo, _, err := c.Undo(ctx, p)
		if err != nil {
			return nil, err
		}
		return undo(p.DryRun)
	case answers.RedoParams:
		result, _, err = c.Redo(ctx, p)
		return result, err
	case wire.LandParams:
		result, _, err = c.Land(ctx, p, nil)
		return result, err
	case wire.LoopParams:
		return w.plain(ctx, command.Command, p)
	}
	return nil, fmt.Errorf("nothing offers %s", command.Command)
}

// plain are the commands that say nothing but which loop they are about.
func (w *Window) plain(ctx context.Context, command string, p wire.LoopParams) (any, error) {
	asked := map[string]Command{wire.CommandPause: Pause{}, wire.CommandNext: Next{}, wire.CommandDetach: Detach{}}[command]
	switch {
	case asked != nil:
		return w.commands().Asks(asked)(ctx, p)
	case command == wire.CommandHelp:
		return Help(), nil
	case command == wire.CommandStatus:
		folder, err := pathOf(p.Folder)
		if err != nil {
			return nil, err
		}
		loops, err := w.Known(folder, 0)
		return wire.StatusesOf(loops), err
	}
	return nil, fmt.Errorf("nothing offers %s", command)
}

// Changes tells what a loop changed.
func (w *Window) Changes(ctx context.Context, p wire.ChangesParams) (answers.ChangesResult, error) {
	result, _, err := w.commands().Changes(ctx, p)
	return result, asTold(err)
}

// File reads a file as a snapshot of a loop's has it.
func (w *Window) File(ctx context.Context, p answers.FileParams) (answers.FileResult, error) {
	content, err := w.commands().File(ctx, p)
	return content, asTold(err)
}
