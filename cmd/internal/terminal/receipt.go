package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// PrintReceipt prints how a loop ended, and the command lines that help.
func PrintReceipt(out io.Writer, p Palette, e loop.End) {
	for _, row := range wire.ReceiptOf(e, "").Rows {
		PrintFact(out, p, 9, row.Label, row.Text)
	}
	PrintCommands(out, p, e)
}

// PrintCommands prints the command lines that help after an end.
func PrintCommands(out io.Writer, p Palette, e loop.End) {
	for _, c := range wire.CommandsAfter(e, InFolderOf(e.Status.Folder)) {
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
