package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// bareCR shows a CR as git does where no line ends with it: all behind it would stand in its line's place.
var bareCR = strings.NewReplacer("\r\n", "\r\n", "\r", "^M")

// ForReaders is a patch as it can be read, where out is a terminal.
func ForReaders(out io.Writer, patch []byte) []byte {
	if _, ok := Is(out); !ok {
		return patch
	}
	return []byte(bareCR.Replace(string(patch)))
}

// PrintChanges prints a line per file, and for people their sum.
func PrintChanges(out io.Writer, files []changes.File, asJSON bool) {
	if asJSON {
		for _, f := range files {
			f.Path, f.From = answers.PathText(f.Path), answers.PathText(f.From)
			WriteJSON(out, f)
		}
		return
	}
	p := PaletteFor(out)
	for _, f := range files {
		name := Line(f.Path)
		if f.From != "" {
			name = Line(f.From) + " -> " + name
		}
		counts := answers.FileText(f)
		if added, removed, isLines := strings.Cut(counts, " "); isLines {
			counts = p.Green(added) + " " + p.Red(removed)
		} else if f.Status == changes.Mode { // which says it
			counts = ""
		}
		fmt.Fprintln(out, wire.JoinFacts(fmt.Sprintf("%-8s  %s", f.Status, name), counts))
	}
	fmt.Fprintln(out, answers.SumText(changes.Sum(files)))
}

// PrintPast prints two lines of a loop: what came of it, and where it is.
func PrintPast(out io.Writer, p Palette, s loop.Past) {
	outcome, fate := fmt.Sprintf("not ended, iteration %d", s.Iteration), ""
	if s.End != nil {
		outcome = answers.PastOf(s).Text
	}
	if s.Tree != nil {
		fate = answers.FateText(*s.Tree)
	}
	fmt.Fprintf(out, "%s  %s\n  %s\n", p.Dim(s.StartedAt.Local().Format(time.DateTime)),
		wire.JoinFacts(p.Bold(Line(s.Title)), outcome, fate), p.Dim(Line(s.SessionFile)))
}

// PrintChecks shows what a doctor has found, and counts the problems.
func PrintChecks(out io.Writer, p Palette, width int, checks []answers.Check) (problems int) {
	for _, c := range checks {
		mark := p.Green("✓")
		switch {
		case !c.OK && c.Optional:
			mark = p.Yellow("–")
		case !c.OK:
			mark = p.Red("✗")
			problems++
		}
		fmt.Fprintln(out, Wrapped(mark+" "+Line(c.Message), width, 2))
		if !c.OK && c.Fix != "" {
			fmt.Fprintln(out, Wrapped("  "+p.Dim(Line(c.Fix)), width, 2))
		}
	}
	return problems
}
