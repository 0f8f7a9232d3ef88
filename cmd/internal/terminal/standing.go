package terminal

import (
	"fmt"
	"io"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TitleOf is the title of a loop's prompt.
func TitleOf(st loop.Status) string {
	if st.Title == "" && st.Last != nil {
		return st.Last.Status.Title
	}
	return st.Title
}

// PrintStatus says where a loop stands, a fact per line, in the wire's words: one that is
// over with its receipt. What was spent is read from the state file.
func PrintStatus(out io.Writer, p Palette, st loop.Status, owner loopstate.Owner, owned bool, now time.Time) {
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
	if owned {
		fact("process", owner.Words())
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
		fmt.Fprintln(out, Wrapped("no process drives it; "+GoOn+InFolderOf(st.Folder)+", or discard it with ralph-lsp cancel"+InFolderOf(st.Folder), width, 2))
		help = help[min(2, len(help)):] // which say the same
	}
	printCommands(out, p, help)
}
