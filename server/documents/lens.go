package documents

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// CodeLens answers textDocument/codeLens.
func (d *Documents) CodeLens(p protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return []protocol.CodeLens{}, nil
	}
	lenses := d.lenses(doc)
	if doc.kind == promptDoc || doc.kind == stateDoc {
		lenses = append(lenses, d.reviewLenses(doc)...)
	}
	d.isNews(doc.uri, methodRefreshLenses, summary(lenses))
	return lenses, nil
}

// lenses are what can be done with a prompt's or a plan's loop, on its first line, and with the tasks of a plan; never nil.
func (d *Documents) lenses(doc *document) []protocol.CodeLens {
	lenses := []protocol.CodeLens{}
	view, isPlan := d.planOf(doc)
	if doc.kind != promptDoc && doc.kind != stateDoc && !isPlan {
		return lenses
	}
	add := func(title, id string, argument any) {
		lenses = append(lenses, protocol.CodeLens{Command: clientCommand(title, id, argument)})
	}
	folder := d.folderOf(doc)
	status, _ := d.env.LoopIn(folder)
	text := status.Text
	for _, control := range wire.ControlsOf(status) {
		add(wire.JoinFacts(text, control.Title), control.Command, control.Arguments[0])
		text = "" // once is enough
	}
	canStart := status.State == "" || slices.Contains(status.Can, wire.CanStart)
	switch {
	case status.Live && len(lenses) == 0: // it is about to end
		add(text, wire.CommandOpen, wire.LoopParams{LoopID: status.LoopID, Folder: status.Folder})
	case canStart:
		begin := wire.StartParams{Folder: wire.FileURI(folder), PromptURI: string(doc.uri)}
		if isPlan {
			begin = view.begin("")
		} else if _, _, err := start.PromptIn(docKey(doc.uri), doc.text); err != nil {
			return lenses // its diagnostics say what is wrong with it
		}
		add("Run Ralph loop", wire.CommandStart, begin)
		begin.DryRun = true
		add("Dry run", wire.CommandStart, begin)
	}
	if isPlan {
		lenses = append(lenses, view.lenses(canStart)...)
	}
	return lenses
}

// clientCommand is a command with its one argument. Arguments are plain data,
// which always has a JSON form.
func clientCommand(title, id string, argument any) protocol.Command {
	data, err := json.Marshal(argument)
	if err != nil {
		panic(err)
	}
	return protocol.Command{Title: stream.Sanitize(title), Command: id, Arguments: []protocol.LSPAny{data}}
}
