package server

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// codeLens answers textDocument/codeLens.
func (d *documents) codeLens(p protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return []protocol.CodeLens{}, nil
	}
	lenses := d.lenses(doc)
	d.isNews(doc.uri, methodRefreshLenses, summary(lenses))
	return lenses, nil
}

// lenses are what can be done with a prompt's loop, on its first line; never nil.
func (d *documents) lenses(doc *document) []protocol.CodeLens {
	lenses := []protocol.CodeLens{}
	if doc.kind != promptDoc && doc.kind != stateDoc {
		return lenses
	}
	add := func(title, id string, argument any) {
		lenses = append(lenses, protocol.CodeLens{Command: clientCommand(title, id, argument)})
	}
	folder := d.folderOf(doc)
	status, _ := d.env.LoopIn(folder)
	target := LoopParams{LoopID: status.LoopID}
	if status.LoopID == "" {
		target.Folder = FileURI(folder)
	}
	switch state := loop.State(status.State); {
	case isLive(status):
		add(liveText(status)+" · Cancel", CommandCancel, target)
		switch state {
		case loop.StatePaused:
			add("Resume", CommandResume, target)
		case loop.StateWaiting:
			add("Retry now", CommandResume, target)
		case loop.StateRunning:
			add("Pause", CommandPause, target)
		}
	case state.Left():
		target = LoopParams{Folder: FileURI(folder)}
		add(JoinFacts(position(status), doing(status), "Resume"), CommandResume, target)
		add("Discard", CommandCancel, target)
	default:
		if _, _, err := promptIn(docKey(doc.uri), doc.text); err != nil {
			return lenses // its diagnostics say what is wrong with it
		}
		start := StartParams{Folder: FileURI(folder), PromptURI: string(doc.uri)}
		add("Run Ralph loop", CommandStart, start)
		start.DryRun = true
		add("Dry run", CommandStart, start)
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
