package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Tree says whether a loop works in a git worktree of its own.
type Tree struct {
	Wanted      bool
	Branch      string // "" is one named after the prompt
	WithChanges bool   // it begins with the files as they are, not with HEAD
	Commit      bool   // each iteration is committed on its branch
}

// anyBranch is the value of the flag without one; no branch can be called so.
const anyBranch = "ralph/..."

type treeFlag Tree

func (t *treeFlag) Type() string   { return "BRANCH" }
func (t *treeFlag) String() string { return t.Branch }

func (t *treeFlag) Set(branch string) error {
	if branch == "" {
		return errors.New("the branch has no name; leave the = out for one that is named after the prompt")
	}
	if t.Wanted, t.Branch = true, branch; branch == anyBranch {
		t.Branch = ""
	}
	return nil
}

// check says what a start can't have.
func (t Tree) check() error {
	if t.WithChanges && !t.Wanted {
		return errors.New("--with-changes says what a worktree begins with; say --worktree too, or leave it out")
	}
	if t.Commit && !t.Wanted {
		return errors.New("--commit commits on the branch of a worktree, never on yours; say --worktree too, or leave it out")
	}
	return nil
}

// options are those of the tree that a loop would have.
func (t Tree) options(cfg setup.Config, s config.Worktree) worktree.Options {
	return worktree.Options{Folder: cfg.Folder, Title: history.Title(cfg.Prompt), Branch: t.Branch, WithChanges: t.WithChanges,
		Commit: t.Commit, Place: s.Place, Hidden: cfg.Sandbox.HiddenIn(cfg.Folder)}
}

// Preview says which tree a loop would get. Nothing is made.
func (t Tree) Preview(ctx context.Context, cfg setup.Config, s config.Worktree) (worktree.Tree, error) {
	if err := t.check(); err != nil {
		return worktree.Tree{}, err
	}
	return worktree.Preview(ctx, t.options(cfg, s))
}

// Make makes the tree of a loop, brings into it what the settings say, and leads the
// configuration there. Drop takes it away, should the loop not begin. What is run prints to out.
//
// Errors: *worktree.Error, *SetupError, and what the system says.
func (t Tree) Make(ctx context.Context, cfg *setup.Config, s config.Worktree, out io.Writer) (*worktree.Making, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	var m *worktree.Making
	var err error
	whenSlow(out, "git writes the files of the worktree, which takes a while where there are many; a cancel leaves none", func() {
		m, err = worktree.Add(ctx, t.options(*cfg, s))
	})
	if err != nil {
		return nil, advised(err)
	}
	notes, err := worktree.Bring(m.Repo, m.Path, s.Copy, s.Link)
	if plan := cfg.Values.Plan; err == nil && plan != "" {
		if _, e := os.Stat(filepath.Join(m.Folder, plan)); errors.Is(e, fs.ErrNotExist) {
			err = &worktree.Error{Why: plan + " isn't in the commit that it begins with", Fix: "commit it first, or say --with-changes"}
		}
	}
	if err == nil {
		err = SetUp(ctx, m.Path, s.Setup, backends.Grace, out)
	}
	if err == nil {
		err = m.Done()
	}
	if err != nil {
		return nil, errors.Join(err, m.Drop())
	}
	cfg.Folder, cfg.SetUp = m.Folder, false
	cfg.Warnings = slices.Concat(cfg.Warnings, m.Notes, notes)
	return m, nil
}

// slow is how long somebody waits without a word.
const slow = 2 * time.Second

// whenSlow does something, and prints a line if that takes long.
func whenSlow(out io.Writer, text string, do func()) {
	done := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		select {
		case <-done:
		case <-time.After(slow):
			fmt.Fprintln(out, text)
		}
	})
	do()
	close(done)
	telling.Wait() // out is for one at a time
}

// advised adds what to do where this machine is short of something.
func advised(err error) error {
	if advice := loopstate.Shortage(err); advice != "" {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

// SetupError says which command that prepares a worktree failed.
type SetupError struct{ Command, Why, Output string }

// Words say what failed, and how.
func (e *SetupError) Words() string {
	text := e.Command + " " + e.Why
	if e.Output != "" {
		text += ": " + e.Output
	}
	return text
}

func (e *SetupError) Error() string {
	return "the worktree couldn't be set up: " + e.Words() + "; nothing was started, and the worktree is gone. Mend " +
		"[worktree] setup in " + config.Name + ", or start without --worktree"
}

// oneAtATime lets only one goroutine write.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneAtATime) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// SetUp runs commands in a tree, one after the other. Nothing that they start outlives
// them. When ctx is done they have grace to end. Errors: *SetupError, and what the system says.
func SetUp(ctx context.Context, dir string, commands []string, grace time.Duration, out io.Writer) error {
	if len(commands) == 0 {
		return nil
	}
	scope, err := backends.OpenScope("")
	if err != nil {
		return err
	}
	defer scope.Close()
	out = &oneAtATime{to: out}
	for _, command := range commands {
		fmt.Fprintf(out, "$ %s\n", command)
		said := &verify.Output{}
		p, err := backends.Start(backends.Spec{
			Backend: backends.Program(verify.Check{Shell: command}.Argv(), dir), Dir: dir, Scope: scope, Raw: io.MultiWriter(said, out),
		})
		if err != nil {
			return &SetupError{Command: command, Why: "can't be run: " + err.Error()}
		}
		over := context.AfterFunc(ctx, func() { p.Stop(grace) })
		exit := p.Wait()
		over()
		switch {
		case ctx.Err() != nil:
			return &SetupError{Command: command, Why: "was interrupted"}
		case exit.Survivor != nil:
			return &SetupError{Command: command, Why: "left something running: " + exit.Survivor.Error()}
		case exit.Code != 0:
			how := cmp.Or(exit.Signal, fmt.Sprintf("exit code %d", exit.Code))
			return &SetupError{Command: command, Why: "failed (" + how + ")", Output: said.Tail()}
		}
	}
	return nil
}
