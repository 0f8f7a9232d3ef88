package terminal

import (
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Viewer shows a session in a style for loops.
type Viewer struct{ Style }

// HandleRecord shows what isn't the agent's.
func (v Viewer) HandleRecord(r history.Record) { journal.Retell(r, v) }

// Note shows what others have said.
func (v Viewer) Note(text string) { v.Style.Note(Line(text)) }

// Told shows what the loop told, in the words in which it did.
func (v Viewer) Told(u journal.Told) {
	p, line := Palette{}, func(string) {}
	switch s := v.Style.(type) {
	case *jsonStyle:
		s.write(wire.Raw(u.JSON))
	case *told:
		p, line = s.cfg.Palette, func(text string) { s.note(text) }
	}
	if u.Content.Text != "" {
		line("> " + Line(u.Content.Text))
	}
	if u.Text != "" {
		line(p.class(u.Class, Line(u.Text)))
	}
	for _, text := range excerpt(u.Output, errorLines) {
		line(p.class(u.Class, "  "+fit(text, consoleTitle)))
	}
}
