package service

import (
	"errors"
	"os"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// What a start would find out by writing, a dry run says without. A loop in a worktree doesn't write there.
func TestADryRunSaysThatTheFolderIsNotWritable(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.Chmod(dir, 0o555))
	proctest.Obedient(t, func() {
		preview := func() Preview {
			return Preview{Sources: start.Sources{"backend": config.FromStart}, Config: setup.Config{Folder: dir, Prompt: "x", Limits: limits.Default(),
				Backend: backends.Custom(os.Args[0], nil, backends.PromptStdin, decode.FormatText)}}
		}
		for _, replace := range []bool{false, true} {
			p := preview()
			p.Replace = replace
			got, err := p.Result(t.Context(), func(string) []wire.Command { return nil })
			if err != nil || len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonNotWritable || got.Problems[0].Class != wire.ClassError ||
				got.Problems[0].Text != "folder "+dir+" is not writable: write "+dir+": permission denied; change its permissions, or use another folder" {
				t.Errorf("%v, %+v", err, got.Problems)
			}
			if len(p.Met) != 1 || !errors.As(p.Met[0], new(*loopstate.NotWritableError)) {
				t.Errorf("%v", p.Met)
			}
		}
		p := preview()
		p.tree = &worktree.Tree{Folder: dir}
		if got, err := p.Result(t.Context(), func(string) []wire.Command { return nil }); err != nil || len(got.Problems) > 0 {
			t.Errorf("in a worktree: %v, %+v", err, got.Problems)
		}
	})
}
