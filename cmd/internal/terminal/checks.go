package terminal

import (
	"fmt"
	"io"

	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

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
