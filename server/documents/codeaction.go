package documents

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// CodeAction answers textDocument/codeAction; never nil.
func (d *Documents) CodeAction(p protocol.CodeActionParams) []protocol.CodeAction {
	actions := []protocol.CodeAction{}
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return actions
	}
	start, end := doc.offsets(p.Range)
	for _, action := range d.actions(doc, start, end) {
		if wanted(action.Kind, p.Context.Only) {
			actions = append(actions, action)
		}
	}
	return actions
}

// wanted says whether a client asked for a kind of action. A kind includes
// those below it.
func wanted(kind *protocol.CodeActionKind, only []protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return kind != nil && (k == "" || *kind == k || strings.HasPrefix(string(*kind), string(k)+"."))
	})
}

// actions are what can be done about a range of a document.
func (d *Documents) actions(doc *document, start, end int) []protocol.CodeAction {
	var actions []protocol.CodeAction
	fixed := map[string]bool{}
	for _, f := range d.findings(doc) {
		if f.end < start || end < f.start {
			continue
		}
		for i, fix := range f.fixes {
			if action, ok := doc.action(fix, protocol.CodeActionKindQuickFix); ok {
				action.Diagnostics = []protocol.Diagnostic{doc.diagnostic(f)}
				action.IsPreferred = new(i == 0)
				actions = append(actions, action)
				fixed[fix.title] = true
			}
		}
	}
	switch doc.kind {
	case stateDoc:
		actions = append(actions, d.loopActions(doc)...)
		for _, fix := range stateOffers(doc.text, start) {
			if action, ok := doc.action(fix, protocol.CodeActionKindRefactor); ok && !fixed[fix.title] {
				actions = append(actions, action)
			}
		}
	case planDoc: // those of its own line are for all clients
		for _, lens := range d.lenses(doc) {
			if from, to := doc.offsets(lens.Range); from <= end && start <= to {
				actions = append(actions, lensAction(lens))
			}
		}
	case promptDoc:
		actions = append(actions, d.loopActions(doc)...)
		isWhole := !doc.isCut() || end < len(doc.text)
		// Some editors always have a character selected: the one at the cursor.
		if prompt := doc.text[start:end]; isWhole && utf8.RuneCountInString(strings.TrimSpace(prompt)) > 1 {
			argument := wire.StartParams{Folder: wire.FileURI(d.folderOf(doc)), Prompt: prompt}
			actions = append(actions, protocol.CodeAction{
				Title:   "Run Ralph loop with the selection",
				Kind:    new(protocol.CodeActionKindRefactor),
				Command: clientCommand("Run Ralph loop with the selection", wire.CommandStart, argument),
			})
		}
	}
	return append(actions, d.reviewActions(doc)...)
}

// loopActions are the lenses of a document for a client without a plugin, which may
// have no lenses. They are refactorings, although they aren't any: some users have
// all that is "source" done when they save.
func (d *Documents) loopActions(doc *document) (actions []protocol.CodeAction) {
	if d.ed.Client().OptedIn {
		return nil
	}
	lenses := d.lenses(doc)
	if changes := d.reviewLenses(doc); len(changes) > 0 { // the others are actions for all
		lenses = append(lenses, changes[0])
	}
	for _, lens := range lenses {
		actions = append(actions, lensAction(lens))
	}
	return actions
}

// lensAction is a lens as a code action.
func lensAction(lens protocol.CodeLens) protocol.CodeAction {
	command := lens.Command
	if !strings.Contains(command.Title, "Ralph") { // among those of other servers
		command.Title = "Ralph: " + command.Title
	}
	return protocol.CodeAction{Title: command.Title, Kind: new(protocol.CodeActionKindRefactor), Command: command}
}

// stateOffers are changes to a state file that are right, but may be wanted.
func stateOffers(text string, offset int) []fix {
	if front, ok := loopstate.FrontOf(text); !ok || offset > front.End || front.End-front.Start > maxFrontMatter {
		return nil
	}
	doc, err := loopstate.Parse([]byte(text))
	if err != nil {
		return nil
	}
	var offers []fix
	if doc.State().CompletionPromise() == "" {
		offers = append(offers, promiseFix(text))
	}
	if doc.State().Limits().MaxIterations == 0 {
		offers = append(offers, limitFix(text))
	}
	return offers
}

// action makes a fix one of the editor's; ok is false when it changes nothing.
func (doc *document) action(f fix, kind protocol.CodeActionKind) (action protocol.CodeAction, ok bool) {
	var edits []protocol.TextEdit
	for _, e := range f.edits {
		edits = append(edits, protocol.TextEdit{Range: doc.span(e.start, e.end), NewText: e.text})
	}
	title := strings.ToUpper(f.title[:1]) + f.title[1:]
	return protocol.CodeAction{
		Title: title, Kind: &kind,
		Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.uri: edits}},
	}, len(edits) > 0
}
