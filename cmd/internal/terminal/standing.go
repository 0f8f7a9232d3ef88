package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/registry"
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
		fmt.Fprintln(out, Wrapped("no process drives it; "+GoOn+InFolderOf(st.Folder)+", or discard it with ralph-lsp cancel"+InFolderOf(st.Folder), width, 2))
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

// SeenIn is the loop in a folder; an idle one is none, with how the last one ended.
func SeenIn(dir string) (loop.Status, error) {
	return seenWith(dir, sync.OnceValue(func() registry.Entry {
		e, _ := registry.Last(paths.Real(dir))
		return e
	}))
}

// seenWith is SeenIn, with what the registry has of the last loop there.
func seenWith(dir string, last func() registry.Entry) (loop.Status, error) {
	s, err := loop.FolderStatusWith(dir, last)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = loop.Status{Folder: dir, State: wire.StateIdle}, nil
		if end, ok := loop.EndOf(last()); ok {
			s.Last = &end
		}
	}
	return s, err
}

// SeenOf is how the loop stands that the registry knows: by its folder, if it is there still.
func SeenOf(e registry.Entry) loop.Status {
	here, _ := SeenIn(e.Folder)
	return orPast(here, e)
}

// orPast is what is seen in a loop's folder where that is this loop, else how the loop ended.
func orPast(s loop.Status, e registry.Entry) loop.Status {
	if s.LoopID == e.LoopID {
		return s
	}
	s = loop.Status{LoopID: e.LoopID, Folder: e.Folder, State: wire.StateIdle}
	if end, ok := loop.EndOf(e); ok {
		s.Last = &end
	}
	return s
}

// shownFor is how long a loop is listed that is over for good.
const shownFor = 7 * 24 * time.Hour

// AllSeen are the loops of all folders that run, can go on or ended lately: those first that failed
// or ask, then those at work, then those that ended; of each kind those that changed last.
func AllSeen() (loops []loop.Status) {
	lately, last := registry.All()
	in := standingIn(lately, last)
	for _, e := range lately {
		s := orPast(in[e.Folder], e)
		isOver := s.State == wire.StateIdle
		if !isOver || s.Last != nil && time.Since(e.EndedAt) < shownFor {
			loops = append(loops, s)
		}
	}
	wire.SortSeen(loops)
	return loops
}

// standingIn is how the loop stands in each folder of these loops: there may be hundreds of them, so several are looked
// at at once, and one that had a thousand loops is looked at once.
func standingIn(lately []registry.Entry, last map[string]registry.Entry) map[string]loop.Status {
	in := map[string]loop.Status{}
	var folders []string
	for _, e := range lately {
		if _, isDouble := in[e.Folder]; !isDouble {
			in[e.Folder], folders = loop.Status{}, append(folders, e.Folder)
		}
	}
	seen := make([]loop.Status, len(folders))
	var next atomic.Int64
	var looking sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		looking.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				seen[i], _ = seenWith(folders[i], func() registry.Entry { return last[folders[i]] })
			}
		})
	}
	looking.Wait()
	for i, folder := range folders {
		in[folder] = seen[i]
	}
	return in
}
