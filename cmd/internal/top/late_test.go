package top

import (
	"context"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// A loop that the filter doesn't find any more stays chosen: keys, and what is typed, are meant for it.
func TestTheFilterTakesNoLoopAway(t *testing.T) {
	other := running()
	other.LoopID, other.Folder, other.Tool = "ralph-lexer", "/home/me/lexer", nil
	c := newTalk(t, 80, 24, other, running())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.types("f", "ralph", enter, down, "f", "\x15go test", enter)
	c.has("1 of 2 loops", "> ● parser")
	c.loops[0].Tool, c.loops[1].Tool = c.loops[1].Tool, nil
	c.looks()
	c.has("2 of 2 loops", "> ● parser", "▾ iteration 3")
	c.types("e", "o", "p")
	c.hasRun("next ralph-parser", "pause ralph-parser")
	c.types("s", "words")
	c.looks()
	c.types(enter)
	c.hasRun("steer ralph-parser -- words")
	c.types("f", enter, "D")
	c.hasRun("detach ralph-parser")
	c.types("f", " ./", enter)
	c.has("1 of 2 loops", "> ● lexer") // what is typed lets go of it
}

// What was asked of a loop isn't shown as another one's; that a command failed is told with the loop's name.
func TestWhatComesForAnotherLoop(t *testing.T) {
	c := newTalk(t, 100, 30, running(), ended())
	tellParser(c.tales["ralph-parser"])
	c.tales["ralph-docs"].tell(loop.IterationStart{Iteration: 1})
	c.looks()
	c.diff = parserChanges()
	c.says["status"] = said{text: "Ralph 3/50\nof the parser"}
	c.says["undo"] = said{text: "would be undone: of the parser"}
	c.says["pause"] = said{text: "the parser pauses"}
	c.says["next"] = said{text: "no run is under way", isError: true}
	var slow []effect
	for _, k := range "dipe" {
		slow = append(slow, c.m.update(tea.KeyPressMsg{Code: k, Text: string(k)})...)
	}
	c.types("u", down)
	slow = append(slow, c.m.update(tea.KeyPressMsg{Code: tea.KeyEnter})...)
	c.types(down)
	for _, do := range slow {
		c.hears(do())
		c.hasNot("README.md")
		c.hasNot("of the parser")
		c.hasNot("the parser pauses")
	}
	c.has("> ✓ docs", "ralph-parser: no run is under way")
	c.types(up)
	c.hears(slow[0]())
	c.has("> M README.md")
}

// Files that are only passed on the way to another one are not read, and nothing is read for a page that is closed.
func TestOneFileIsReadAtATime(t *testing.T) {
	c := newTalk(t, 120, 30, running())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.diff = parserChanges()
	c.types("d")
	var read []string
	c.m.page.tree.patch = func(_ context.Context, f changes.File) string {
		read = append(read, f.Path)
		return ""
	}
	c.types(down)
	c.has("a binary file")
	var passed []effect
	for range 3 {
		passed = append(passed, c.m.update(tea.KeyPressMsg{Code: tea.KeyDown})...)
	}
	c.types(escape)
	for _, do := range passed {
		c.hears(do())
	}
	if len(read) > 0 {
		t.Errorf("read %v", read)
	}
	c.types("d")
	tree := c.m.page.tree
	tree.patch = func(ctx context.Context, f changes.File) string {
		read = append(read, f.Path)
		c.m.update(tea.KeyPressMsg{Code: tea.KeyEscape})
		if ctx.Err() == nil {
			t.Errorf("%s is read on", f.Path)
		}
		return "late"
	}
	c.types(down, down)
	c.hasNot("late")
	if fmt.Sprint(read) != "[run.sh]" {
		t.Errorf("read %v", read)
	}
}

func TestALowScreenShowsTheLoop(t *testing.T) {
	c := newTalk(t, 80, minHeight, running(), ended())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.has("> ● parser")
	c.hasNot("2 loops")
}

// A frame is drawn ten times a second, so it costs what it shows, not what there is.
func TestAFrameCostsWhatItShows(t *testing.T) {
	cost := func(loops, files int) float64 {
		var all []loop.Status
		for i := range loops {
			st := running()
			st.LoopID = fmt.Sprint("ralph-", i)
			all = append(all, st)
		}
		c := newTalk(t, 120, 30, all...)
		c.looks()
		var many changed
		for i := range files {
			many.files = append(many.files, changes.File{Path: fmt.Sprintf("d%d/f%d", i/10, i), Status: changes.Modified})
		}
		c.m.page = &page{tree: newTree(many), text: "@@"}
		return testing.AllocsPerRun(5, func() { c.m.picture() })
	}
	if few, many := cost(40, 200), cost(400, 2000); many > few*1.2 {
		t.Errorf("%v allocations of 400 loops and 2000 files, %v of 40 and 200", many, few)
	}
}
