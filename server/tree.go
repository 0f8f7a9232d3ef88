package server

import (
	"bytes"
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// launchInTree starts a loop in a worktree that is made for it. Without a loop, there is
// none afterwards.
func (s *starter) launchInTree(ctx context.Context, cfg *setup.Config, wanted start.Tree,
	settings config.Worktree) (*folders.Managed, error) {
	turns.Of(ctx).End() // to set it up may take long
	done, err := s.workspace.Hold()
	if err != nil {
		return nil, err
	}
	defer done()
	origin := cfg.Folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Ctx, cancel)()
	out := &setupLog{Session: s.Session, ctx: ctx}
	made, err := wanted.Make(ctx, cfg, settings, out)
	out.flush()
	if err != nil {
		return nil, err
	}
	r, err := s.launcher.launch(*cfg)
	if err != nil {
		return nil, errors.Join(err, made.Drop())
	}
	s.workspace.MadeIn(cfg.Folder, origin)
	return r, nil
}

// setupLog shows the editor what the commands print that prepare a worktree, line by line.
type setupLog struct {
	*session.Session
	ctx  context.Context
	line []byte
}

// maxSetupLine is how long such a line is at most, in runes.
const maxSetupLine = 2000

func (w *setupLog) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	for {
		end := bytes.IndexByte(w.line, '\n')
		if end < 0 && len(w.line) < 4*maxSetupLine {
			return len(p), nil
		}
		if end < 0 {
			end = len(w.line) - 1
		}
		w.show(w.line[:end])
		w.line = w.line[end+1:]
	}
}

func (w *setupLog) flush() {
	if len(w.line) > 0 {
		w.show(w.line)
	}
}

func (w *setupLog) show(line []byte) {
	_ = w.Editor.Send(w.ctx, "window/logMessage",
		session.MessageParams{Type: session.MessageLog, Message: stream.Line(string(line), maxSetupLine)})
}
