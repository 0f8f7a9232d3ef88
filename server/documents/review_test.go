package documents

import (
	"slices"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// A loop's changes are shown at its prompt and its state file, not elsewhere.
func TestChangesAreShownAtTheLoopsDocuments(t *testing.T) {
	review := answers.Review{Loop: wire.LoopParams{LoopID: "a", Folder: "file:///w"}, Text: "1 file, +12 -3", CanRedo: true}
	for n := 2; n <= 8; n += 2 {
		review.Iterations = append(review.Iterations, answers.ChangedIteration{Iteration: n, Text: "1 file, +4 -0"})
	}
	world := &docWorld{review: review}
	for _, at := range []uri.URI{promptURI, stateURI, configURI} {
		d := withDoc(at, "---\nactive: true\ncompletion_promise: X\nmax_iterations: 5\n---\nBuild X", false, world)
		lenses, err := d.CodeLens(protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: at}})
		must.OK(t, err)
		var got []string
		for _, lens := range lenses {
			if lens.Command.Command == wire.CommandChanges {
				got = append(got, lens.Command.Title+" "+string(lens.Command.Arguments[0]))
			}
		}
		for _, action := range d.CodeAction(protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: at}}) {
			if action.Command.Command != "" {
				got = append(got, action.Title+" "+action.Command.Command+" "+string(action.Command.Arguments[0]))
			}
		}
		want := []string{
			`Changes: 1 file, +12 -3 {"loopId":"a","folder":"file:///w","show":true}`,
			`Changes of iteration 8: 1 file, +4 -0 {"loopId":"a","folder":"file:///w","from":7,"to":8,"show":true}`,
			`Show what iteration 8 changed ralph.loop.changes {"loopId":"a","folder":"file:///w","from":7,"to":8,"show":true}`,
			`Undo iteration 8 ralph.loop.undo {"loopId":"a","folder":"file:///w","iteration":8}`,
			`Show what iteration 6 changed ralph.loop.changes {"loopId":"a","folder":"file:///w","from":5,"to":6,"show":true}`,
			`Undo iteration 6 ralph.loop.undo {"loopId":"a","folder":"file:///w","iteration":6}`,
			`Show what iteration 4 changed ralph.loop.changes {"loopId":"a","folder":"file:///w","from":3,"to":4,"show":true}`,
			`Undo iteration 4 ralph.loop.undo {"loopId":"a","folder":"file:///w","iteration":4}`,
			`Redo what was undone last ralph.loop.redo {"loopId":"a","folder":"file:///w"}`,
		}
		if at == configURI {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has\n%q, want\n%q", at, got, want)
		}
	}
}
