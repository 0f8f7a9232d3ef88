package server

import (
	"bytes"
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// beginInTree begins a loop in a worktree that is made for it.
func (s *starter) beginInTree(ctx context.Context, prepared *service.Prepared) (r *folders.Managed, err error) {
	turns.Of(ctx).End() // to set it up may take long
	done, err := s.workspace.Hold()
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Ctx, cancel)()
	out, origin := &setupLog{Session: s.Session, ctx: ctx}, prepared.Config.Folder
	err = prepared.BeginInTree(ctx, out, func(cfg setup.Config) (err error) {
		out.flush()
		if r, err = s.launcher.launch(cfg); err == nil {
			s.workspace.MadeIn(cfg.Folder, origin)
		}
		return err
	})
	out.flush()
	return r, err
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
		w.line = nil
	}
}

func (w *setupLog) show(line []byte) {
	_ = w.Editor.Send(w.ctx, "window/logMessage",
		session.MessageParams{Type: session.MessageLog, Message: stream.Line(string(line), maxSetupLine)})
}
