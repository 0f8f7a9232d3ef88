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

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/window"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// newWatch is the command that shows a loop. asks: Ctrl-C asks what becomes of it.
func newWatch(asks bool) *cobra.Command {
	var how shown
	var owns bool
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
	if asks {
		cmd.Flags().BoolVar(&owns, "own", false, "the loop ends with this terminal, as one that was begun here does")
	}
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if e, ok := named(args); ok {
			dir = e.Folder
		}
		w := watcher{dir: dir, asks: asks, owns: owns}
		if err := w.find(cmd, args); err != nil {
			return err
		}
		return w.watch(cmd, how)
	})
}

// newAttach is watch for who may also end the loop.
func newAttach() *cobra.Command {
	cmd := newWatch(true)
	cmd.Use, cmd.Short = "attach [LOOP]", "Show a loop as its own terminal does"
	cmd.Long = `Show a loop as watch does. What its agents ask is answered here, and Ctrl-C asks whether
to end it. With --own the loop ends with this terminal, even one that was detached.`
	return cmd
}

// watcher shows a loop that it doesn't own.
type watcher struct {
	*window.Watch
	dir    string
	loopID string
	asks   bool        // Ctrl-C asks what becomes of the loop
	owns   bool        // the loop is to end with this terminal
	asking atomic.Bool // it does so now
}

// find finds the loop, and where its current iteration begins.
func (w *watcher) find(cmd *cobra.Command, args []string) error {
	path := "" // of its session file
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
		w.loopID, path = status.LoopID, status.SessionFile
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if path, err = sessionNamed(w.dir, args); err != nil {
			return err
		}
		if w.loopID, err = history.LoopOf(path); err != nil {
			return err
		}
	}
	story := journal.StoryOf(w.loopID, path)
	outline, err := story.Outline(cmd.Context())
	if status.Owner == nil || status.LoopID != w.loopID {
		status = loop.Status{}
	} else if errors.Is(err, fs.ErrNotExist) { // its first entry is still to come
		err = nil
	}
	last := 0
	if n := len(outline.Iterations); n > 0 { // it may be one that goes on
		last, _, _ = wire.IterationOf(wire.Decode(outline.Iterations[n-1]))
	}
	cursor, _ := outline.Begin(last, len(outline.Parts))
	hello := client.Hello{Cursor: cursor, Answers: w.asks && isAttended(cmd), Owns: w.owns}
	w.Watch = window.NewWatch(w.dir, w.loopID, status, story, hello)
	return err
}

// Status is how the loop stands. While its user is asked nothing is shown of that: the answer stands in its place.
func (w *watcher) Status() loop.Status {
	if w.asking.Load() {
		return loop.Status{}
	}
	return w.Watch.Status()
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
	screen.Answer, screen.Answers, screen.IsLive = terminal.AnswerIn(w.dir), w.Hello.Answers, w.IsLive
	screen.Verbatim = speaksText(w.dir)
	display := terminal.NewDisplay(how.style.Value, screen)
	display.Start(w, w.Status)
	ctx, leave := context.WithCancel(cmd.Context())
	defer leave()
	result := make(chan ending, 1)
	go func() {
		end, err := w.Follow(ctx)
		result <- ending{end, err}
	}()
	over := make(chan struct{})
	if w.Hello.Answers {
		go terminal.AnswerHere(os.Stdin, w, over, display.Note)
	}
	it, isOver := w.attend(cmd, result, caught, out.Broken)
	close(over)
	giveUp := make(chan struct{})
	if !isOver {
		leave()
		time.AfterFunc(leavePatience, func() { close(giveUp) })
		display.Close(giveUp)
		return &exitError{code: terminal.ExitCancelled}
	}
	if it.err != nil {
		display.Note(it.err.Error())
	}
	display.End(it.end)
	go func() { // so that nothing makes this wait for a terminal that takes nothing
		<-caught
		close(giveUp)
	}()
	display.Close(giveUp)
	if end, ok := display.Ended(); ok {
		it.end = end
	}
	return outcome(it.end)
}

// speaksText says whether the agent of a folder's loop prints plain text, line by line.
func speaksText(dir string) bool {
	_, s, err := loop.StateIn(dir)
	if err != nil {
		return false
	}
	output := decode.Format(s.BackendOutput)
	if known, err := backends.Lookup(s.Backend); err == nil {
		output = known.Output
	}
	return cmp.Or(output, decode.FormatText) == decode.FormatText
}

// leavePatience is how long a terminal may take what was told until the watching was ended.
const leavePatience = time.Second

// ending is how a loop ended, or why it can't be followed.
type ending struct {
	end loop.End
	err error
}

// attend waits for the end of the loop (isOver), or of the watching.
func (w *watcher) attend(cmd *cobra.Command, result <-chan ending, caught <-chan os.Signal,
	broken <-chan struct{}) (it ending, isOver bool) {
	answers := make(chan error, 1)
	for {
		select {
		case it := <-result:
			return it, true
		case sig := <-caught:
			if !w.asks || sig != os.Interrupt || w.asking.Swap(true) {
				return it, false
			}
			go func() {
				defer w.asking.Store(false)
				answers <- w.askToLeave(cmd)
			}()
		case err := <-answers:
			if errors.Is(err, errLeaves) {
				return it, false
			} else if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "ralph-lsp: "+explain(err))
			}
		case <-broken:
			return it, false
		}
	}
}

// errLeaves says that the watching ends.
var errLeaves = errors.New("left")

// askToLeave asks what becomes of a loop whose watcher has pressed Ctrl-C, and does it.
func (w *watcher) askToLeave(cmd *cobra.Command) error {
	detach, leave := "  d  let it go on alone, without its window\n", "  q  leave it as it is\n"
	if w.Watch.Status().Detached {
		detach = ""
	}
	if w.owns { // it ends with this terminal
		leave = ""
	}
	switch answer, asked := prompt(cmd, "\n  e  end the loop, so that it can be resumed\n"+detach+leave+"  Enter  go on watching\n> "); {
	case !asked, answer == "q" && !w.owns, answer == leaves:
		return errLeaves
	case answer == "e":
		return w.Do(loop.Request{Do: loop.DoInterrupt}) // its end is shown
	case answer == "d":
		return cmp.Or(w.Do(loop.Request{Do: caller.Detach}), errLeaves)
	}
	return nil
}
