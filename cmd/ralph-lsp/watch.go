package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
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
	inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if e, ok := named(args); ok {
			dir = e.Folder
		}
		w := watcher{dir: dir, asks: asks}
		if err := w.find(cmd, args); err != nil {
			return err
		}
		return w.watch(cmd, how)
	})
	return cmd
}

// watchPoll is how often what another process writes is looked at.
const watchPoll = 250 * time.Millisecond

// watcher shows the session file of a loop, and what is added to it.
type watcher struct {
	terminal.Viewer
	dir    string
	asks   bool        // Ctrl-C asks what becomes of the loop
	asking atomic.Bool // it does so now
	path   string
	at     history.Cursor
	status atomic.Pointer[loop.Status]
	work   atWork
	reader *history.Reader // of what is new in the file
	end    *loop.End       // of the loop, as far as the file was read; nil: it goes on
}

// atWork is what the file tells of the iteration that runs, for the live line. The
// state file knows the loop's time only up to what was spent last, and no tool.
type atWork struct {
	mu    sync.Mutex
	begun time.Time     // zero between two iterations
	spent time.Duration // by what is over
	tool  *loop.ToolStatus
	// agents are those that work for the loop's.
	agents loop.AtWork
}

// event follows the agent.
func (a *atWork) event(e stream.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.agents.Follow(e, time.Time{})
	switch e := e.(type) {
	case stream.ToolCall:
		a.tool = &loop.ToolStatus{Call: e}
	case stream.ToolResult:
		if a.tool != nil && a.tool.Call.ID == e.ID {
			a.tool = nil
		}
	}
}

// begin follows the loop into an iteration.
func (a *atWork) begin(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun, a.tool, a.agents = at, nil, nil
}

// record follows the loop elsewhere.
func (a *atWork) record(r history.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if told, ok := r.(history.Update); ok { // of a check as well
		if _, ends := told.Ends(); ends {
			a.begun, a.tool, a.agents = time.Time{}, nil, nil
		}
		a.spent += told.Took()
	}
}

// of adds to what the state file tells.
func (a *atWork) of(st loop.Status, now time.Time) loop.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	if st.State == loop.StateRunning && !a.begun.IsZero() {
		st.Elapsed, st.Tool = max(st.Elapsed, a.spent+now.Sub(a.begun)), cmp.Or(a.tool, st.Tool)
		st.Agents = slices.Clone(a.agents)
	}
	return st
}

// find finds the loop's session, and where its current iteration begins.
func (w *watcher) find(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		for _, t := range worktree.List(w.dir) {
			if worktree.IsNamed(t.Branch, args[0]) {
				w.dir, args = t.Folder, nil
				break
			}
		}
	}
	status, _, _, err := loop.FolderStatus(w.dir)
	switch {
	case err == nil && (len(args) == 0 || args[0] == status.LoopID):
		if w.path = status.SessionFile; w.path == "" {
			return errors.New("the loop keeps no history, so it can only be watched where it runs")
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if w.path, err = sessionNamed(cmd, w.dir, args); err != nil {
			return err
		}
	}
	return w.seek()
}

// seek goes to the beginning of the last iteration.
func (w *watcher) seek() error {
	r, err := history.NewReader(w.path, history.Cursor{})
	if errors.Is(err, fs.ErrNotExist) { // its first entry is still to come
		return nil
	}
	if err != nil {
		return sessionError(err)
	}
	defer r.Close()
	var seen beginnings
	for {
		line := r.Cursor()
		if !r.Next(&seen) {
			w.work.spent = seen.before
			return sessionError(r.Err())
		}
		if seen.begun {
			w.at, seen.begun = line, false
		}
	}
}

// beginnings looks for iterations in a session.
type beginnings struct {
	begun  bool
	past   atWork
	before time.Duration // that was spent before the last iteration
}

func (*beginnings) Handle(stream.Event) {}

func (b *beginnings) HandleRecord(r history.Record) {
	b.past.record(r)
	if u, ok := r.(history.Update); ok && u.Begins() {
		b.begun, b.before = true, b.past.spent
	}
}

// watch shows the loop until it ends, or a signal ends the watching.
func (w *watcher) watch(cmd *cobra.Command, how shown) error {
	caught, stop := catchSignals()
	defer stop()
	out := terminal.Checked(cmd.OutOrStdout())
	screen := terminal.ConfigOf(cmd.OutOrStdout(), cmd.OutOrStdout(), how.verbose) // what users said belongs to it
	if screen.Out = out; how.style.Value == terminal.JSON {
		screen.Notes = cmd.ErrOrStderr()
	}
	screen.Now = func() time.Time { return timeIn(w.reader) }
	w.Viewer = terminal.Viewer{Style: terminal.New(how.style.Value, screen)}
	ctx, leave := context.WithCancel(contextOf(cmd))
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

// follow shows what is in the file and what comes, until nobody drives the loop.
func (w *watcher) follow(ctx context.Context) error {
	defer w.Close()
	driven := w.isDriven()
	if driven {
		w.Live(func() loop.Status {
			if w.asking.Load() { // its line is where the answer stands
				return loop.Status{}
			}
			return w.work.of(*w.status.Load(), time.Now())
		})
	}
	for {
		if err := w.read(); err != nil {
			return sessionError(err)
		}
		if !driven {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchPoll):
		}
		driven = w.isDriven() // before the file is read: the end is written before its owner lets go
	}
	if w.end == nil { // whoever drove it died
		w.HandleRecord(history.LoopEnd{StopReason: string(loop.StopInterrupted)})
	}
	return outcome(*w.end)
}

// isDriven asks whether some process drives the loop.
func (w *watcher) isDriven() bool {
	status, _, owned, err := loop.FolderStatus(w.dir)
	switch {
	case err == nil && status.SessionFile == w.path:
		w.status.Store(&status)
		return owned
	case errors.Is(err, fs.ErrNotExist): // its file is removed before its end is written
		return owned && w.status.Load() != nil
	}
	return false
}

// read shows what is new in the file.
func (w *watcher) read() error {
	r, err := history.NewReader(w.path, w.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	for w.reader = r; r.Next(w); {
	}
	w.at = r.Cursor()
	return r.Err()
}

// Handle shows what the agent does.
func (w *watcher) Handle(e stream.Event) {
	w.work.event(e)
	w.Viewer.Handle(e)
}

// HandleRecord shows what isn't the agent's, and notes the end.
func (w *watcher) HandleRecord(r history.Record) {
	w.work.record(r)
	switch r := r.(type) {
	case history.LoopStart:
		w.end = nil
	case history.Update:
		if r.Begins() {
			w.work.begin(w.reader.Time())
		}
	case history.LoopEnd:
		w.end = new(loop.EndOfRecord(r))
	}
	w.Viewer.HandleRecord(r)
}
