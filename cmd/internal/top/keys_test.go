package top

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Terminals differ in what they send for a key, and tell Shift where that has no meaning.
func TestKeysAreTheSameOnEachTerminal(t *testing.T) {
	for sent, want := range map[string]string{
		"\x08": "backspace", "\x7f": "backspace", "\n": "enter", "\x1bOM": "enter", "\x1b[13u": "enter", " ": "space", "\x1b[27;2;32~": "space",
		"\x1b[1;5A": "up", "\x1bOA": "up", "\x1b[6;2~": "pgdown", "\x1b[7~": "home", "\x1b[Z": "shift+tab", "\x1b[27;2;71~": "G", "\x1b[99;5u": "ctrl+c",
		"\x1b[127;2u": "backspace", "\x1b[13;2u": "enter", "\x1b[27;2u": "esc", "\x1b[9;2u": "shift+tab",
		"\x1b[91;5u": "esc", "\x1b[109;5u": "enter", "\x1b[105;5u": "tab",
	} {
		_, event := new(uv.EventDecoder).Decode([]byte(sent))
		if got := keyOf(tea.KeyPressMsg(event.(uv.KeyPressEvent))); got.name != want {
			t.Errorf("%q is %q, not %q", sent, got.name, want)
		}
	}
}

// Each key is a command of the program, or says why it can't be one.
func TestKeysRunCommands(t *testing.T) {
	c := newTalk(t, 100, 30, running(), ended())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.types("p")
	c.hasRun("pause ralph-parser")
	c.types("e")
	c.hasRun("next ralph-parser")
	c.types("D")
	c.hasRun("detach ralph-parser")
	c.types("r")
	c.hasRun()
	c.has("resume isn't possible: 3/50")
	c.types("a")
	c.hasRun()
	c.has("answer isn't possible")
	c.types("s", "  leave the lexer", enter)
	c.hasRun("steer ralph-parser -- leave the lexer")
	c.types("s", "--once --next begin here", enter)
	c.hasRun("steer --next --once ralph-parser -- begin here")
	c.types("s", "--forget 2", enter)
	c.hasRun("steer --forget 2 ralph-parser")
	c.types("s", "--forget x", enter)
	c.hasRun()
	c.has("--forget takes the number")
	c.types("s", enter, "s", "words", escape)
	c.hasRun()
	c.types("l", "\x17", "8h", left, left, right, "0", enter)
	c.hasRun("update ralph-parser --max-iterations 50 --max-cost 10 --max-time 80h")
	c.types("i")
	c.hasRun("status ralph-parser")
	c.types("X", enter)
	c.hasRun()
	c.types("X", escape, "X", "\x03", "X", "q")
	c.hasRun()
	c.types("X", down, enter)
	c.hasRun("cancel ralph-parser")
}

func TestKeysOfAnEndedLoop(t *testing.T) {
	over := ended()
	left := running()
	left.State, left.StopReason, left.LoopID, left.Tool = loop.StateInterrupted, loop.StopInterrupted, "ralph-left", nil
	c := newTalk(t, 100, 30, over, left)
	c.tales["ralph-docs"].tell(loop.IterationStart{Iteration: 1}, loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK})
	c.tales["ralph-left"].tell(loop.IterationStart{Iteration: 1})
	c.looks()
	for _, b := range bindings() {
		c.types(b.key, escape)
		if len(b.can) > 0 {
			c.types(b.key)
			c.has(b.name + " isn't possible: done after 2 iterations")
		}
	}
	c.hasRun("status ralph-docs", "diff ralph-docs 1", "changes ralph-docs --iteration 1")
	c.types(down, "r")
	c.hasRun("resume --detach ralph-left")
	c.types("l", enter)
	c.hasRun("resume --detach ralph-left --max-iterations 50 --max-cost 10 --max-time 0s")
	c.types("X", down, enter)
	c.hasRun("cancel ralph-left")
	c.types("e", "p", "s", "D")
	c.hasRun()
}

// Nothing is allowed by a key that was meant for something else.
func TestAnswers(t *testing.T) {
	c := newTalk(t, 100, 30, asking())
	c.tales["ralph-site"].tell(loop.IterationStart{Iteration: 1})
	c.looks()
	c.types("a", enter)
	c.hasRun("answer ralph-site q1 deny")
	c.types("a", down, enter)
	c.has("that came before the question was there to be read")
	c.hasRun()
	c.now = c.now.Add(time.Second)
	c.types("y", "o", "\x1b[200~\r\r\x1b[201~") // other keys, and what is pasted
	c.hasRun()
	c.types(enter)
	c.hasRun("answer ralph-site q1 once")
	c.types("a", down, down, up, down)
	c.now = c.now.Add(time.Second)
	c.types(enter)
	c.hasRun("answer ralph-site q1 loop")
	c.types("a", down, down, down, down, down)
	c.now = c.now.Add(time.Second)
	c.types(enter, "not that", enter)
	c.hasRun("answer ralph-site q1 deny not that")
	for _, q := range []struct {
		ask.Question
		types []string
		want  string
	}{
		{ask.Question{ID: "q2", Kind: ask.Select, Title: "Which?", Options: []string{"red", "blue"}}, []string{down, down, enter}, "answer ralph-site q2 blue"},
		{ask.Question{ID: "q3", Kind: ask.Input, Title: "Which name?"}, []string{down, enter, "Ann", enter}, "answer ralph-site q3 Ann"},
		{ask.Question{ID: "q4", Kind: ask.Limits, Title: "max_iterations 50 -> 90"}, []string{down, down, down, enter}, "answer ralph-site q4 once"},
	} {
		c.loops[0].Questions = []ask.Question{q.Question}
		c.looks()
		c.types("a")
		c.now = c.now.Add(time.Second)
		c.types(q.types...)
		c.hasRun(q.want)
	}
}

// A question that somebody else has answered, or whose loop has ended, can't be answered any more.
func TestAQuestionThatGoes(t *testing.T) {
	for what, goes := range map[string]func(c *talk){
		"answered": func(c *talk) { c.loops[0].Questions = c.loops[0].Questions[1:] },
		"ended": func(c *talk) {
			st := ended()
			st.LoopID = "ralph-site"
			c.loops[0] = st
		},
		"gone": func(c *talk) { c.loops = nil },
	} {
		t.Run(what, func(t *testing.T) {
			st := asking()
			st.Questions = append(st.Questions, ask.Question{ID: "q9", Kind: ask.Permission, Title: "Bash rm -rf /"})
			c := newTalk(t, 100, 30, st)
			c.tales["ralph-site"].tell(loop.IterationStart{Iteration: 1})
			c.looks()
			c.types("a", down)
			c.now = c.now.Add(time.Second)
			goes(c)
			c.looks()
			c.has("that needs no answer any more")
			c.types(enter)
			c.hasRun()
		})
	}
}

// Two look at once how the loops stand. The older look, which doesn't know the question yet, may be the last to tell.
func TestAnOlderLookTakesNoQuestionAway(t *testing.T) {
	st := asking()
	c := newTalk(t, 100, 30, st)
	c.tales["ralph-site"].tell(loop.IterationStart{Iteration: 1})
	c.loops[0].Questions = nil
	older := c.m.list()
	c.loops[0].Questions = st.Questions
	c.looks()
	c.types("a")
	c.hears(older)
	c.types(enter)
	c.hasRun("answer ralph-site q1 deny")
}

func TestWhatACommandSays(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.says["pause"] = said{text: "the loop pauses after this iteration"}
	c.types("p")
	c.has("the loop pauses after this iteration")
	c.says["next"] = said{text: "ralph-lsp: no run is under way", isError: true}
	c.types("e")
	c.has("no run is under way")
	c.says["status"] = said{command: "ralph-lsp status", text: "Ralph 3/50\n  folder x" + strings.Repeat("\n more", 40) + "\nlast"}
	c.types("i")
	c.has("ralph-lsp status", "folder x", "rows above")
	c.hasNot("last")
	c.types("G")
	c.has("last", "0 below")
	c.types("g", "j", "k", " ", pgup, pgdown, "x")
	c.hasRun("pause ralph-parser", "next ralph-parser", "status ralph-parser") // keys turn the page
	c.types("q")
	c.has("iteration 3")
	if c.m.leaves {
		t.Error("q leaves the screen, not the page")
	}
	c.types("q")
	if !c.m.leaves {
		t.Error("q doesn't leave")
	}
}

func TestChangesAndUndo(t *testing.T) {
	c := newTalk(t, 100, 30, running())
	tellParser(c.tales["ralph-parser"])
	c.says["changes"] = said{text: "nothing changed"}
	c.says["undo"] = said{text: "would be undone: main.go\nwould be undone: a.go"}
	c.looks()
	c.types(left, "d")
	c.has("nothing changed")
	c.hasRun("diff ralph-parser 2", "changes ralph-parser --iteration 2")
	c.diff = parserChanges()
	c.types("d")
	c.has("what iteration 2 changed: 6 files, +4 -10", "> M README.md", "+    new README.md", "old mode", "--- not a head")
	c.hasNot("index 1..2")
	c.hasNot("+++ b/")
	c.hasRun("diff ralph-parser 2")
	c.types(escape, "u", enter)
	c.hasRun()
	c.types("u", down, down, enter)
	c.has("Those of Iteration 2 and Behind It?", "would be undone: a.go")
	c.hasRun("undo ralph-parser --since 2 --dry-run")
	c.types(enter)
	c.hasRun()
	c.types("u", down, enter, down, enter)
	c.hasRun("undo ralph-parser --iteration 2 --dry-run", "undo ralph-parser --iteration 2")
	c.types(escape, "u", down, down, down, enter)
	c.hasRun("undo ralph-parser --since 1 --dry-run")
	c.types(escape)
	c.says["undo"] = said{text: "iteration 3 is at work", isError: true}
	c.types("u", down, enter)
	c.has("iteration 3 is at work")
	c.hasRun("undo ralph-parser --iteration 2 --dry-run")
}

func TestFolds(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	s := c.tales["ralph-parser"]
	tellParser(s)
	c.looks()
	c.hasNot("Run 1")
	c.types(left, left, enter)
	c.has("▾ iteration 1", "Run 1", "▸ iteration 2")
	c.types(enter)
	c.has("▸ iteration 1")
	c.hasNot("Run 1")
	c.types("G")
	s.tell(loop.IterationEnd{Iteration: 3, Outcome: loop.OutcomeError, Error: "it broke"}, loop.IterationStart{Iteration: 4, MaxIterations: 50}, "The fourth.", "And more.")
	c.reads()
	c.has("▸ iteration 3: error: it broke", "> ▾ iteration 4", "The fourth.") // one that is over folds, as nobody reads it
	c.types("]", enter, enter)
	c.has("The fourth.")
	c.types("\x1b[5~", left, enter) // somebody reads the third
	c.has("▾ iteration 3", "Now the parser")
	s.tell(loop.IterationEnd{Iteration: 4, Outcome: loop.OutcomeOK}, loop.IterationStart{Iteration: 5, MaxIterations: 50}, "The fifth.", strings.Repeat("A paragraph.\n\n", 30), "And more.")
	c.reads()
	c.has("▾ iteration 3", "Now the parser", "▾ iteration 4")
	c.types(tab)
	for range 80 {
		c.types(down)
	}
	c.has("A paragraph.")
	c.hasNot("▾ iteration 3")
	c.types(up)
	if c.m.story.follows {
		t.Error("who scrolls up is taken along")
	}
}

// What a loop says when it goes on stands behind the iteration before that.
func TestALoopThatGoesOn(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	s := c.tales["ralph-parser"]
	s.tell(loop.Warning{Message: "it begins"}, loop.IterationStart{Iteration: 1}, loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK})
	c.looks()
	c.has("▸ its start", "▾ iteration 1")
	s.now = 0
	s.tell(loop.Warning{Message: "it goes on"}, loop.IterationStart{Iteration: 2})
	c.reads()
	c.has("▸ iteration 1", "> ▾ iteration 2")
	c.types(left, enter)
	c.has("it goes on", "ok · cost unknown")
	c.types(left, enter)
	c.has("it begins")
}

// What was asked for before another loop is shown, or another text is sought, comes too late.
func TestWhatComesTooLate(t *testing.T) {
	c := newTalk(t, 80, 24, running(), ended())
	tellParser(c.tales["ralph-parser"])
	c.tales["ralph-docs"].tell(loop.IterationStart{Iteration: 1}, loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK})
	c.looks()
	c.types("/", "lexer", enter, escape)
	before, gen := c.screen(), c.m.source.gen
	stale := []told{{iteration: 3, lines: []string{"stale"}}}
	c.hears(toldMsg{gen - 1, stale}, headsMsg{gen - 1, stale}, loadedMsg{gen - 1, 1, stale}, loadedMsg{gen, 7, stale}, foundMsg{gen: gen - 1}, foundMsg{gen: gen, text: "lexer"}, caughtUp{gen})
	c.types(left)
	c.hears(loadedMsg{gen, 2, stale}) // it has its lines
	c.types(right)
	c.hasNot("stale")
	if after := c.screen(); !strings.Contains(after, "Run 2") {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	c.types(up, down)
	c.hears(toldMsg{gen, stale})
	c.hasNot("stale")
}

func TestALongStoryIsShownFromItsEnd(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	c.tales["ralph-parser"].tell(loop.IterationStart{Iteration: 1}, strings.Repeat("A paragraph.\n\n", 30), "The last.", "")
	c.looks()
	c.has("The last.")
	c.types(pgup)
	c.hasNot("The last.")
	c.types(pgdown)
	c.has("The last.")
}

func TestWhatACommandPrints(t *testing.T) {
	for code, isError := range map[int]bool{0: false, 1: true, 2: true} {
		got := ran(func(args []string, out io.Writer) int {
			fmt.Fprintln(out, args)
			fmt.Fprint(out, strings.Repeat("x", 2*maxPrinted))
			return code
		}, []string{"pause", "ralph-x"})
		if got.command != "ralph-lsp pause" || !strings.HasPrefix(got.text, "[pause ralph-x]\nxx") || len(got.text) > maxPrinted || got.isError != isError {
			t.Errorf("%d: %.40q of %d bytes, %v", code, got.text, len(got.text), got.isError)
		}
	}
}

func TestSearch(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	s := c.tales["ralph-parser"]
	tellParser(s)
	c.looks()
	c.types("/", "LEXER", enter)
	c.has("▾ iteration 1", "> Run 2: I look at the lexer")
	c.types("N")
	c.has("> Run 1: I look at the lexer")
	c.types("N")
	c.has("no more of “LEXER” there")
	c.types("n")
	c.has("> Run 2")
	s.tell(strings.Repeat("Many words. ", 60), "end")
	c.reads()
	c.has("> Run 2") // what is found stays where it is
	c.types("/", "nonesuch", enter)
	c.has("nothing has “nonesuch”")
	c.types(escape)
	c.hasNot("nonesuch")
}

func TestTwoLoops(t *testing.T) {
	c := newTalk(t, 80, 24, running(), ended())
	tellParser(c.tales["ralph-parser"])
	c.tales["ralph-docs"].tell(loop.IterationStart{Iteration: 1}, "All is read.", "")
	c.looks()
	c.types(up)
	c.has("> ● parser")
	c.types("j")
	c.has("> ✓ docs", "All is read.")
	c.hasNot("▸ iteration 2")
	c.loops[0], c.loops[1] = c.loops[1], c.loops[0] // the one that changed stands first
	c.looks()
	c.has("> ✓ docs", "All is read.")
	c.loops = c.loops[1:]
	c.looks()
	c.has("> ● parser", "▾ iteration 3")
	c.hears(tea.WindowSizeMsg{Width: 120, Height: 40})
	c.has("│ ── parser", "▾ iteration 3")
	c.hears(tea.WindowSizeMsg{Width: 20, Height: 5})
	c.has("too small")
}

// Files stand in their folders, and the chosen one is read when it is chosen.
func TestFilesOfAChange(t *testing.T) {
	c := newTalk(t, 120, 30, running())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	c.diff = parserChanges()
	c.types("d")
	c.types(down)
	c.has("a binary file")
	for _, chosen := range []string{"run.sh", "parse/lexer.go", "parse/tree.go", "parse/old/a.go", "parse/old/a.go"} {
		c.types(down)
		c.has("new " + chosen)
	}
	c.has("parse/  ", "    R ast.go -> t", "… · +1 -0", ">   D a.go · +0 -9")
	c.types(up, "k", "j")
	c.has("new parse/tree.go")
	late := hunksMsg{c.m.page, 0, "of another file"}
	c.hears(late)
	c.hasNot("of another file")
	c.types(escape)
	c.hears(late)
	c.has("▾ iteration 3")
}

// The list follows what is typed, and what it shows is counted.
func TestFilterAndOrder(t *testing.T) {
	docs := ended()
	docs.Last.Cost, docs.Last.Unknown, docs.Last.Status.StartedAt = stream.USD(3), 2, noon
	c := newTalk(t, 120, 30, asking(), running(), docs)
	tellParser(c.tales["ralph-parser"])
	c.looks()
	order := func(names ...string) {
		t.Helper()
		at := -1
		for _, name := range names {
			next := strings.Index(c.screen(), " "+name+"  ")
			if next <= at {
				t.Errorf("%s isn't where it should be:\n%s", name, c.screen())
			}
			at = next
		}
	}
	c.has("3 loops · at least $4.42 · 1 asking")
	order("site", "parser", "docs")
	for _, by := range []string{"by start", "by cost", "by folder"} {
		c.types("o")
		c.has("3 loops · " + by)
		order("docs", "parser", "site")
		c.loops[2].Last.Status.StartedAt, c.loops[2].Last.Cost = time.Time{}, stream.Cost{} // it stays on top by the next order alone
		if by == "by start" {
			c.loops[2].Last.Cost = stream.USD(3)
		}
		c.looks()
	}
	c.types("o")
	order("site", "parser", "docs")
	c.has("> ? site")
	c.types("f", "PARSER")
	c.has("1 of 3 loops with “PARSER”", "$1.42", "> ● parser", "▾ iteration 3")
	c.hasNot("site")
	c.types("x")
	c.has("0 of 3 loops with “PARSERx”")
	c.hasNot("▾ iteration 3")
	c.types("\x7f", enter, "p")
	c.hasRun("pause ralph-parser")
	c.types("f", enter)
	c.has("“PARSER”")
	c.types(escape)
	c.has("3 loops", "> ● parser", "site")
	c.types("f", "asks", escape)
	c.has("3 loops", "> ? site")
	c.types("f", "index.html", enter, "a")
	c.loops[0].Iteration++
	c.loops[0].Questions[0].Title = "Write other.html" // it isn't found by that any more, and still asks
	c.looks()
	c.has("Deny, With Words for the Agent")
}
