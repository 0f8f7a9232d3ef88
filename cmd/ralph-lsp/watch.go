package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// newWatch is the command that shows a loop. asks: Ctrl-C asks what becomes of it.
func newWatch(asks bool) *cobra.Command {
	var how shown
	cmd := &cobra.Command{
		Use:   "watch [LOOP]",
		Short: "Show a loop that runs in another terminal or in an editor",
		Long: `Show the folder's loop, whoever drives it, from its current iteration until it ends.
Of a loop that is over, the last iteration is shown. Ctrl-C ends only the watching. A
loop is named by its id (ralph-lsp history) or its branch.

The exit codes are those of ralph-lsp run.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLoops,
	}
	how.addFlags(cmd)
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if e, ok := named(args); ok {
			dir = e.Folder
		}
		w := watcher{dir: dir, asks: asks}
		w.status.Store(new(loop.Status))
		if err := w.find(cmd, args); err != nil {
			return err
		}
		return w.watch(cmd, how)
	})
}

// newAttach is watch for who may also end the loop.
func newAttach() *cobra.Command {
	cmd := newWatch(true)
	cmd.Use, cmd.Short, cmd.Long = "attach [LOOP]", "Show a loop as watch does; Ctrl-C asks whether to end the loop", ""
	return cmd
}

// watchPoll is how often what another process writes is looked at.
const watchPoll = 100 * time.Millisecond

// watcher shows the story of a loop, and what is added to it.
type watcher struct {
	terminal.Style
	dir      string
	loopID   string
	path     string      // of its session file
	thinking bool        // is shown, too
	asks     bool        // Ctrl-C asks what becomes of the loop
	asking   atomic.Bool // it does so now
	story    journal.Story
	cursor   string
	status   atomic.Pointer[loop.Status] // as it was last seen
	spent    atomic.Int64                // nanoseconds, by the iterations that are over
	end      *loop.End                   // the last of the loop, as far as the story was read; nil: it goes on
}

// find finds the loop, and where its current iteration begins.
func (w *watcher) find(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		for _, t := range worktree.List(w.dir) {
			if worktree.IsNamed(t.Branch, args[0]) {
				w.dir, args = t.Folder, nil
				break
			}
		}
	}
	status, err := loop.FolderStatus(w.dir)
	switch {
	case err == nil && (len(args) == 0 || args[0] == status.LoopID):
		w.loopID, w.path = status.LoopID, status.SessionFile
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if w.path, err = sessionNamed(w.dir, args); err != nil {
			return err
		}
		if w.loopID, err = history.LoopOf(w.path); err != nil {
			return err
		}
	}
	w.story = journal.StoryOf(w.loopID, w.path)
	outline, err := w.story.Outline(cmd.Context())
	if errors.Is(err, fs.ErrNotExist) && w.isDriven() { // its first entry is still to come
		return nil
	}
	w.seek(outline)
	return err
}

// seek goes to the beginning of the last iteration, which may be one that goes on.
func (w *watcher) seek(o wire.Outline) {
	last := 0
	for i, update := range o.Iterations {
		u, _ := terminal.IterationOf(update)
		if last = u.Iteration; i < len(o.Iterations)-1 {
			w.took(u)
		}
	}
	w.cursor, _ = o.Begin(last, len(o.Parts))
}

// watch shows the loop until it ends, or a signal ends the watching.
func (w *watcher) watch(cmd *cobra.Command, how shown) error {
	caught, stop := terminal.CatchSignals()
	defer stop()
	out := terminal.Checked(cmd.OutOrStdout())
	screen := terminal.ConfigOf(cmd.OutOrStdout(), cmd.OutOrStdout(), how.verbose) // what users said belongs to it
	if screen.Out = out; how.style.Value == terminal.JSON {
		screen.Notes = cmd.ErrOrStderr()
	}
	screen.Answer = terminal.AnswerIn(w.dir)
	w.Style, w.thinking = terminal.New(how.style.Value, screen), how.verbose
	ctx, leave := context.WithCancel(cmd.Context())
	defer leave()
	result := make(chan error, 1)
	go func() { result <- w.follow(ctx) }()
	if err, isOver := w.attend(cmd, result, caught, out.Broken); isOver {
		return err
	}
	leave()
	select {
	case <-result:
	case <-time.After(time.Second): // the terminal takes nothing
	}
	return &exitError{code: terminal.ExitCancelled}
}

// attend waits for the end of the loop (isOver), or of the watching.
func (w *watcher) attend(cmd *cobra.Command, result <-chan error, caught <-chan os.Signal, broken <-chan struct{}) (err error, isOver bool) {
	answers := make(chan error, 1)
	for {
		select {
		case err := <-result:
			return err, true
		case sig := <-caught:
			if !w.asks || sig != os.Interrupt || w.asking.Swap(true) {
				return nil, false
			}
			go func() {
				defer w.asking.Store(false)
				answers <- askToLeave(cmd, w.dir)
			}()
		case err := <-answers:
			if errors.Is(err, errLeaves) {
				return nil, false
			} else if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "ralph-lsp: "+explain(err))
			}
		case <-broken:
			return nil, false
		}
	}
}

// follow shows what the story has and what comes, until nobody drives the loop.
func (w *watcher) follow(ctx context.Context) error {
	defer w.Close()
	driven := w.isDriven()
	if driven {
		w.Live(func() loop.Status {
			if w.asking.Load() { // its line is where the answer stands
				return loop.Status{}
			}
			st := *w.status.Load()
			if !st.IterationStartedAt.IsZero() { // the loop's record says what it has spent up to some moment
				st.Elapsed = max(st.Elapsed, time.Duration(w.spent.Load())+time.Since(st.IterationStartedAt))
			}
			return st
		})
	}
	for waited := loop.HandoverTime; ; waited += watchPoll {
		if driven {
			waited = 0
		}
		if err := w.read(ctx, driven && len(w.status.Load().Questions) > 0); err != nil {
			return err
		}
		isHandedOver := w.end != nil && w.end.Reason == loop.StopDetached // and nobody has it yet
		if !driven && (!isHandedOver || waited >= loop.HandoverTime) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchPoll):
		}
		driven = w.isDriven()
	}
	if w.end == nil { // whoever drove it died
		w.end = &loop.End{Reason: loop.StopInterrupted}
		w.End(*w.end)
	}
	return outcome(*w.end)
}

// isDriven asks whether some process drives the loop.
func (w *watcher) isDriven() bool {
	status, err := loop.FolderStatus(w.dir)
	if err != nil { // its file can't be read, or was removed: that comes before the end is written
		return status.Owner != nil && status.Owner.LoopID == w.loopID
	}
	if status.LoopID != w.loopID {
		return false
	}
	w.status.Store(&status)
	return status.Owner != nil
}

// read shows what is new in the story.
func (w *watcher) read(ctx context.Context, isLive bool) error {
	for page, err := range journal.Pages(ctx, w.story, w.cursor, journal.Options{Thinking: w.thinking}) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		w.cursor = page.Cursor
		for _, it := range page.Items {
			if e, ok := terminal.EndOf(it.JSON); ok {
				w.end = &e
			} else if u, ok := terminal.IterationOf(it.JSON); ok {
				w.end = nil
				w.took(u)
			}
			w.Show(it, isLive)
		}
	}
	return nil
}

// took adds what an iteration has taken, which its begin doesn't say.
func (w *watcher) took(u wire.Iteration) {
	if u.DurationMs != nil {
		w.spent.Add(int64(history.DurationOf(*u.DurationMs)))
	}
}

// errLeaves says that the watching ends.
var errLeaves = errors.New("left")

// askToLeave asks what becomes of a loop whose watcher has pressed Ctrl-C, and does it.
func askToLeave(cmd *cobra.Command, dir string) error {
	status, err := loop.FolderStatus(dir)
	if err != nil || status.Owner == nil {
		return errLeaves // there is nothing to ask about
	}
	detach := "  d  let it go on alone, without its window\n"
	if status.Detached {
		detach = ""
	}
	switch answer, asked := prompt(cmd, "\n  e  end the loop, so that it can be resumed\n"+detach+"  q  leave it as it is\n  Enter  go on watching\n> "); {
	case !asked, answer == "q", answer == leaves:
		return errLeaves
	case answer == "e":
		return loop.Other{Folder: dir, LoopID: status.LoopID}.Interrupt() // its end is shown
	case answer == "d":
		_, err = loop.Other{Folder: dir, LoopID: status.LoopID}.Detach()
		return cmp.Or(err, errLeaves)
	}
	return nil
}
