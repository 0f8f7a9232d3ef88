package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TitleOf is the title of a loop's prompt.
func TitleOf(st loop.Status) string {
	if st.Title == "" && st.Last != nil {
		return st.Last.Status.Title
	}
	return st.Title
}

// PrintStatus says where a loop stands, a fact per line, in the wire's words; for a loop that is over, with its
// receipt. Spending is read from the state file.
func PrintStatus(out io.Writer, p Palette, st loop.Status, now time.Time) {
	l := wire.StatusOf(st, false)
	width := LineWidth(out)
	fact := func(name, value string) { PrintFact(out, p, 9, name, value) }
	if st.State == wire.StateIdle {
		begin := "no loop in " + Line(st.Folder)
		if l.Last == nil {
			fmt.Fprintln(out, Wrapped(begin+"; start one with ralph-lsp run", width, 2))
			return
		}
		fmt.Fprintln(out, Wrapped(begin+"; the last one was "+Line(TitleOf(st)), width, 2))
		PrintReceipt(out, p, ReceiptOf(*st.Last))
		return
	}
	text := l.Text
	if l.Live {
		text = wire.Line(st, nil, now)
	}
	fmt.Fprintln(out, Wrapped(p.Bold("Ralph")+" "+p.Cyan(Line(text)), width, 2))
	fact("folder", st.Folder)
	fact("loop", st.LoopID)
	fact("now", wire.NowText(st, now))
	for _, row := range l.Details {
		fact(row.Label, row.Text)
	}
	if st.Owner != nil {
		fact("process", st.Owner.Words())
	}
	if !st.EndedAt.IsZero() {
		fact("ended", st.EndedAt.Local().Format(time.DateTime))
	}
	if st.State != loop.StateEnded {
		fact("file", st.StateFile)
	}
	var help []wire.CommandLine
	if st.Last != nil {
		last := *st.Last
		last.Status = st
		help = ReceiptOf(last).Commands
	}
	if wire.IsLeft(l) {
		fmt.Fprintln(out, Wrapped("no process drives it; "+GoOn+InFolderOf(st.Folder)+", or discard it with ralph-lsp cancel"+
			InFolderOf(st.Folder), width, 2))
		help = help[min(2, len(help)):] // which say the same
	}
	printCommands(out, p, help)
}

// PrintReceipt prints how a loop ended, and the command lines that help.
func PrintReceipt(out io.Writer, p Palette, r wire.Receipt) {
	for _, row := range r.Rows {
		PrintFact(out, p, 9, row.Label, row.Text)
	}
	printCommands(out, p, r.Commands)
}

// ReceiptOf is how a loop ended that is shown in this terminal.
func ReceiptOf(e loop.End) wire.Receipt { return wire.ReceiptOf(e, InFolderOf(e.Status.Folder)) }

// printCommands prints the command lines that help after an end.
func printCommands(out io.Writer, p Palette, lines []wire.CommandLine) {
	for _, c := range lines {
		fmt.Fprintln(out, Wrapped("  "+Line(c.Line)+p.Dim("  "+c.Text), LineWidth(out), 4))
	}
}

// PrintFact prints a row of a table whose names have a width; one without a value is none.
func PrintFact(out io.Writer, p Palette, width int, name, value string) {
	if value != "" {
		line := fmt.Sprintf("  %s %s", p.Dim(fmt.Sprintf("%-*s", width, strings.ToLower(name))), Line(value))
		fmt.Fprintln(out, Wrapped(line, LineWidth(out), 2+width+1))
	}
}
