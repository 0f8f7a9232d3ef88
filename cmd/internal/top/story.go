package top

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	pollEvery = 100 * time.Millisecond // for a story that hasn't begun, and of a flood
	maxPause  = 5 * time.Second        // between two looks for a story that hasn't begun for long
	maxParts  = 4                      // of an iteration, from its end, each of half a megabyte
	maxFirst  = 4 << 20                // bytes that are told at first
	maxAtOnce = 256 << 10              // and each time when there is more; what a flood has besides isn't shown
)

// told is a piece of a loop's story.
type told struct {
	iteration int
	head      string   // what the story says of the iteration; "": nothing new
	isOver    bool     // the iteration
	lines     []string // as they are shown
	isCut     bool     // what comes before them isn't shown
	isNews    bool     // the loop stands otherwise by now
}

// The messages about a story. gen tells which it was when they were sent.
type (
	headsMsg struct { // of all iterations, before the last is told
		gen  int
		told []told
	}
	toldMsg   headsMsg
	loadedMsg struct { // an iteration that is over
		gen, iteration int
		told           []told
	}
	foundMsg struct {
		gen        int
		text       string
		iterations []int
	}
	caughtUp struct{ gen int } // all that there is by now was told
)

// source is a loop's story at a width.
type source struct {
	story   func() journal.Story
	watch   func(ctx context.Context, cursor string) terminal.Story // what comes behind a cursor, as it comes
	gen     int
	width   int
	palette terminal.Palette
}

// follow tells a story from its last iteration on, until ctx is done.
func (s source) follow(ctx context.Context, send func(message)) {
	story := s.story()
	out, err := story.Outline(ctx)
	for pause := pollEvery; err != nil; out, err = story.Outline(ctx) { // it may only begin, or isn't kept
		if wait(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, maxPause)
		story = s.story()
	}
	var heads headsMsg
	last := 0
	if len(out.Parts) > 0 && out.Parts[0].Iteration == 0 {
		heads.told = append(heads.told, told{})
	}
	for _, update := range out.Iterations {
		if h, ok := headOf(update); ok {
			heads.told, last = append(heads.told, h), h.iteration
		}
	}
	heads.gen = s.gen
	send(heads)
	cursor, isCut := out.Begin(last, maxParts)
	coming, t, since := s.watch(ctx, cursor), s.teller(), time.Now()
	for room, isNew := maxFirst, true; ctx.Err() == nil; {
		page, behind := coming.Next(false)
		isAll := !page.More && behind == 0
		if room -= sizeOf(page.Items); room < 0 && !isAll { // it is written faster than anybody could read it
			page.Items = slices.DeleteFunc(page.Items, func(it journal.Item) bool { _, ok := headOf(it.JSON); return !ok })
			isCut, t = true, s.teller()
		}
		if pieces := t.tell(page.Items); len(pieces) > 0 {
			pieces[0].isCut = pieces[0].isCut || isCut
			isCut, isNew = false, true
			send(toldMsg{s.gen, pieces})
		}
		if page.More {
			continue
		}
		if isAll && isNew {
			send(caughtUp{s.gen})
			isNew = false
		}
		if now := time.Now(); isAll || now.Sub(since) > pollEvery { // a flood has no end that could be waited for
			room, since = max(room, maxAtOnce), now
		}
		select {
		case <-ctx.Done():
		case <-coming.News():
		}
	}
}

// sizeOf is how many bytes items have.
func sizeOf(items []journal.Item) (size int) {
	for _, it := range items {
		size += len(it.JSON)
	}
	return size
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// load tells an iteration that is over.
func (s source) load(ctx context.Context, iteration int) message {
	done, story := loadedMsg{gen: s.gen, iteration: iteration}, s.story()
	if out, err := story.Outline(ctx); err == nil {
		cursor, isCut := out.Begin(iteration, maxParts)
		s.pages(ctx, story, cursor, func(piece told) bool {
			isOf := piece.iteration == iteration || piece.iteration == 0 // what comes when it goes on after a pause
			if isOf {
				piece.isCut, isCut = isCut, false
				done.told = append(done.told, piece)
			}
			return isOf
		})
	}
	return done
}

// find tells in which iterations a text is.
func (s source) find(ctx context.Context, text string) message {
	found := foundMsg{gen: s.gen, text: text}
	s.pages(ctx, s.story(), "", func(piece told) bool {
		n := len(found.iterations)
		if isNew := n == 0 || found.iterations[n-1] != piece.iteration; isNew &&
			slices.ContainsFunc(piece.lines, func(line string) bool { return isIn(line, text) }) {
			found.iterations = append(found.iterations, piece.iteration)
		}
		return true
	})
	return found
}

// pages tells a story from a cursor on, as long as take wants more of it.
func (s source) pages(ctx context.Context, story journal.Story, cursor string, take func(told) bool) {
	t := s.teller()
	for page, err := range journal.Pages(ctx, story, cursor, journal.Options{}) {
		if err != nil {
			return
		}
		for _, piece := range t.tell(page.Items) {
			if !take(piece) {
				return
			}
		}
	}
}

// isIn looks for a text in a line as it is read.
func isIn(line, text string) bool {
	return strings.Contains(strings.ToLower(ansi.Strip(line)), strings.ToLower(text))
}

// teller makes lines of updates, as watch shows them.
type teller struct {
	terminal.Style
	out   bytes.Buffer
	width int
}

func (s source) teller() *teller {
	t := &teller{width: s.width}
	t.Style = terminal.New(terminal.Pretty, terminal.Config{Out: &t.out, Notes: &t.out, Palette: s.palette,
		Width: func() int { return s.width }})
	return t
}

// tell returns a piece for each iteration.
func (t *teller) tell(items []journal.Item) (pieces []told) {
	for _, it := range items {
		head, isHead := headOf(it.JSON)
		t.Show(it, false)
		lines := t.lines()
		if isHead && !head.isOver { // the fold says it
			lines = lines[:max(len(lines)-2, 0)]
		}
		n := len(pieces)
		if n == 0 || pieces[n-1].iteration != it.Iteration {
			pieces = append(pieces, told{iteration: it.Iteration})
			n++
		}
		if isHead {
			pieces[n-1].head, pieces[n-1].isOver = head.head, head.isOver
		}
		pieces[n-1].lines = append(pieces[n-1].lines, lines...)
		pieces[n-1].isNews = pieces[n-1].isNews || strings.HasPrefix(wire.KindOf(it.JSON), ownKinds)
	}
	return pieces
}

// lines are those that were printed since the last time, none wider than the screen.
func (t *teller) lines() (lines []string) {
	for line := range strings.Lines(t.out.String()) {
		lines = append(lines, wrapped(strings.TrimSuffix(line, "\n"), t.width)...)
	}
	t.out.Reset()
	return lines
}

// wrapped breaks a line; a word that is too wide is broken, too.
func wrapped(line string, width int) []string {
	if terminal.Cells(line) <= width {
		return []string{line}
	}
	return terminal.Parts(ansi.Hardwrap(terminal.Wrapped(line, width, 2), width, true))
}

// ownKinds begin the kinds of what a loop tells of itself, not of its agent.
const ownKinds = "_ralph/"

// headOf is what an update says of an iteration, where it is about one.
func headOf(update json.RawMessage) (told, bool) {
	if wire.KindOf(update) != wire.KindIteration {
		return told{}, false
	}
	u := wire.Decode(update)
	iteration, isOver, ok := wire.IterationOf(u)
	head := terminal.Line(wire.NoticeIn(u).Text)
	if isOver {
		head = fmt.Sprintf("iteration %d: %s", iteration, head)
	}
	return told{iteration: iteration, head: head, isOver: isOver}, ok
}
