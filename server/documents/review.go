package documents

import (
	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// reviewLenses show what the loop of a prompt or of a state file changed.
func (d *Documents) reviewLenses(doc *document) (lenses []protocol.CodeLens) {
	for _, c := range d.env.ReviewIn(d.folderOf(doc)).Lenses() {
		lenses = append(lenses, protocol.CodeLens{Command: clientCommand(c.Title, c.Command, c.Arguments[0])})
	}
	return lenses
}

// reviewActions show and undo what the loop of a prompt or of a state file changed.
func (d *Documents) reviewActions(doc *document) (actions []protocol.CodeAction) {
	var review answers.Review
	if doc.kind == promptDoc || doc.kind == stateDoc {
		review = d.env.ReviewIn(d.folderOf(doc))
	}
	for _, c := range review.Actions() {
		actions = append(actions, protocol.CodeAction{
			Title: c.Title, Kind: new(protocol.CodeActionKindRefactor), Command: clientCommand(c.Title, c.Command, c.Arguments[0]),
		})
	}
	return actions
}
