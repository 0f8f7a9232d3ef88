package top

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// order is in which order the loops are listed.
type order struct {
	name    string
	compare func(a, b loop.Status) int
}

// orders are those that o goes through. The first is the order in which the service lists them.
var orders = []order{
	{"those that need you first", func(a, b loop.Status) int { return 0 }},
	{"by start", func(a, b loop.Status) int { return recordOf(b).StartedAt.Compare(recordOf(a).StartedAt) }},
	{"by cost", func(a, b loop.Status) int { return cmp.Compare(recordOf(b).Cost.USD, recordOf(a).Cost.USD) }},
	{"by folder", func(a, b loop.Status) int { return cmp.Compare(a.Folder, b.Folder) }},
}

// recordOf is a loop's status, or how it stood at its end if it is over.
func recordOf(st loop.Status) loop.Status {
	if st.State != wire.StateIdle || st.Last == nil {
		return st
	}
	over := st.Last.Status
	over.Cost, over.UnknownCosts = st.Last.Cost, st.Last.Unknown
	return over
}

// listing has all loops, and the listed ones.
type listing struct {
	all    []loop.Status
	shown  []loop.Status
	totals string // of shown ones
	filter string // the text that they have
	order  int    // which of orders they have
	now    func() time.Time
}

// arrange lists the loops that pass the filter, and the one that is held, in the chosen order.
func (l *listing) arrange(held string) {
	l.shown = slices.DeleteFunc(slices.Clone(l.all), func(st loop.Status) bool { return st.LoopID != held && !l.passes(st) })
	slices.SortStableFunc(l.shown, orders[l.order].compare)
	l.totals = l.sum()
}

// indexOf is where a loop stands in the list, -1: nowhere.
func (l *listing) indexOf(id string) int {
	return slices.IndexFunc(l.shown, func(s loop.Status) bool { return s.LoopID == id })
}

// passes says whether a loop has the text of the filter in its id, its folder, its title or in how it stands.
func (l *listing) passes(st loop.Status) bool {
	return l.filter == "" || slices.ContainsFunc([]string{st.LoopID, st.Folder, terminal.TitleOf(st), l.standOf(st)},
		func(of string) bool { return isIn(of, l.filter) })
}

func (l *listing) standOf(st loop.Status) string { return terminal.Line(wire.StandText(st, l.now())) }

// sum says how many loops are listed, what they do and cost, and how they are filtered and sorted.
func (l *listing) sum() string {
	asking, busy := 0, 0
	cost, unknown := stream.Cost{}, 0
	for _, st := range l.shown {
		if len(st.Questions) > 0 {
			asking++
		} else if wire.IsBusy(st) {
			busy++
		}
		over := recordOf(st)
		cost, unknown = cost.Plus(over.Cost), unknown+over.UnknownCosts
	}
	some := func(n int, what string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n, " ", what)
	}
	if unknown > 0 {
		unknown = -1 // "at least": how many runs that were is told of each loop
	}
	listed, sorted := loopsText(len(l.shown)), ""
	if l.filter != "" {
		listed = fmt.Sprintf("%d of %s with “%s”", len(l.shown), loopsText(len(l.all)), l.filter)
	}
	if l.order > 0 {
		sorted = orders[l.order].name
	}
	return wire.JoinFacts(listed, sorted, wire.CostText(cost, unknown), some(asking, "asking"), some(busy, "at work"))
}

func loopsText(n int) string {
	if n == 1 {
		return "1 loop"
	}
	return fmt.Sprint(n, " loops")
}

// hasTotals says whether there is more to say of all loops than of the one that there is.
func (l *listing) hasTotals() bool { return len(l.all) > 1 || l.filter != "" }

// height is how many rows the list has above the story.
func (l *listing) height(of int) int {
	rows := len(l.shown)
	if l.hasTotals() {
		rows++
	}
	return max(min(rows, of/4), 1)
}

// listed has the totals, and a row for each loop, or two where the loops stand beside the story.
func (m *model) listed(height, each int) (rows []string) {
	if len(m.loops.all) == 0 {
		return []string{m.palette.Dim("no loop runs or has ended in the last week; start one with ralph-lsp run --detach")}
	}
	if m.loops.hasTotals() && height > each {
		rows = append(rows, m.palette.Dim(m.loops.totals))
	}
	at := m.loops.indexOf(m.id)
	for i := firstShown(at, len(m.loops.shown), (height-len(rows))/each); i < len(m.loops.shown) && len(rows)+each <= height; i++ {
		st := m.loops.shown[i]
		name, title, stand := m.named(st, i == at), terminal.Line(terminal.TitleOf(st)), m.loops.standOf(st)
		if each == 2 {
			rows = append(rows, name+"  "+m.palette.Dim(title), "    "+stand)
		} else {
			rows = append(rows, filled(name, m.width/5)+" "+m.palette.Dim(filled(title, m.width/4))+" "+stand)
		}
	}
	return rows
}
