package documents

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// codeLens answers textDocument/codeLens.
func (d *Documents) CodeLens(p protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return []protocol.CodeLens{}, nil
	}
	lenses := d.lenses(doc)
	d.isNews(doc.uri, methodRefreshLenses, summary(lenses))
	return lenses, nil
}

// lenses are what can be done with a prompt's loop, on its first line; never nil.
func (d *Documents) lenses(doc *document) []protocol.CodeLens {
	lenses := []protocol.CodeLens{}
	if doc.kind != promptDoc && doc.kind != stateDoc {
		return lenses
	}
	add := func(title, id string, argument any) {
		lenses = append(lenses, protocol.CodeLens{Command: clientCommand(title, id, argument)})
	}
	folder := d.folderOf(doc)
	status, _ := d.env.LoopIn(folder)
	target := wire.LoopParams{LoopID: status.LoopID}
	if status.LoopID == "" {
		target.Folder = wire.FileURI(folder)
	}
	switch state := loop.State(status.State); {
	case wire.IsLive(status):
		add(wire.LiveText(status)+" · Cancel", wire.CommandCancel, target)
		switch state {
		case loop.StatePaused:
			add("Resume", wire.CommandResume, target)
		case loop.StateWaiting:
			add("Retry now", wire.CommandResume, target)
		case loop.StateRunning:
			add("Pause", wire.CommandPause, target)
		}
	case state.Left():
		target = wire.LoopParams{Folder: wire.FileURI(folder)}
		add(wire.JoinFacts(wire.Position(status), wire.Doing(status), "Resume"), wire.CommandResume, target)
		add("Discard", wire.CommandCancel, target)
	default:
		if _, _, err := start.PromptIn(docKey(doc.uri), doc.text); err != nil {
			return lenses // its diagnostics say what is wrong with it
		}
		start := wire.StartParams{Folder: wire.FileURI(folder), PromptURI: string(doc.uri)}
		add("Run Ralph loop", wire.CommandStart, start)
		start.DryRun = true
		add("Dry run", wire.CommandStart, start)
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
	return protocol.Command{Title: stream.Plain(title), Command: id, Arguments: []protocol.LSPAny{data}}
}
