package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A look takes its time while an editor has the file open.
func TestTheFirstStatusHasTheLoopsThatAreThere(t *testing.T) {
	for name, argument := range map[string]any{"of all": struct{}{}, "of the folder": nil} {
		t.Run(name, func(t *testing.T) {
			dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}})
			editor, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(loopstate.Name)), os.O_WRONLY|os.O_APPEND, 0)
			must.OK(t, err)
			defer editor.Close()
			if argument == nil {
				argument = wire.FolderParams{Folder: wire.FileURI(dir)}
			}
			c := dial(t, optedIn, dir)
			got := result[wire.StatusResult](c, c.Command(wire.CommandStatus, argument))
			if len(got.Loops) != 1 || got.Loops[0].LoopID != "ralph-found" {
				t.Errorf("got %+v", got)
			}
		})
	}
}
