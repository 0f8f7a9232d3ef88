// Package session is one served editor, for all packages: its capabilities, its user, and how long it is there.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/findings"
	"github.com/ralph-lsp/ralph-lsp/server/transcript"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Session is what all rooms have of the editor that is served.
type Session struct {
	Editor   client.Editor
	Log      *slog.Logger
	User     Dialog
	Docs     OpenDocuments
	Status   *feed.Status
	Problems *findings.Problems // of the loops' checks
	Stories  *transcript.Documents

	Ctx   context.Context // ends with the editor
	Leave context.CancelFunc
	Work  sync.WaitGroup // everything that runs for a folder or a loop

	saves sync.Mutex
	told  chan struct{} // is closed when loops know all that was saved until now; nil: nothing was
}

// Saved tells loops beside the editor's messages of something that its user has saved.
func (e *Session) Saved(tell func()) {
	told := make(chan struct{})
	e.saves.Lock()
	before := e.told
	e.told = told
	e.saves.Unlock()
	e.Work.Go(func() {
		defer close(told)
		tell()
		if before != nil {
			<-before
		}
	})
}

// AwaitSaved waits until loops know what was saved before: an undo must not take it for an agent's.
func (e *Session) AwaitSaved(ctx context.Context) error {
	e.saves.Lock()
	told := e.told
	e.saves.Unlock()
	if told == nil {
		return nil
	}
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// New is the session of an editor. Its docs and its status are set before it is used.
func New(ed client.Editor, log *slog.Logger) *Session {
	e := &Session{Editor: ed, Log: log, User: Dialog{ed, new(atomic.Bool)}, Problems: findings.New(ed)}
	e.Ctx, e.Leave = context.WithCancel(context.Background())
	return e
}

// Changed tells the editor that a loop's state changed; folder "" only that the status did.
func (e *Session) Changed(folder string) {
	e.Status.Changed(true)
	if folder != "" {
		e.Docs.Republish(folder)
	}
}

// OpenDocuments are the documents that the editor has open.
type OpenDocuments interface {
	Republish(folder string)                     // its loop changed
	OpenText(path string) (text string, ok bool) // as the editor has it, saved or not

	// Mark changes the box of a task in the editor's text of a plan.
	Mark(ctx context.Context, p wire.MarkParams) (any, error)
}

// Files says where the settings of a loop in a folder are.
func (e *Session) Files(folder string) config.Files {
	files := config.FilesOf(folder, backends.Names())
	files.Trusted = e.Editor.Client().Trusted
	return files
}

// ShowFile has the editor show a file.
func (e *Session) ShowFile(ctx context.Context, file string) error {
	var shown struct{ Success bool }
	err := e.Editor.Request(ctx, "window/showDocument", map[string]any{"uri": wire.FileURI(file), "takeFocus": true}, &shown)
	if err == nil && !shown.Success {
		err = errors.New("it says that it can't")
	}
	if err != nil {
		return fmt.Errorf("the editor doesn't open %s: %w", file, err)
	}
	return nil
}
