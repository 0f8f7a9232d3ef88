package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

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
