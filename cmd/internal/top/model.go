package top

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// world is what the screen shows, and by what it acts.
type world struct {
	loops  func() []loop.Status
	read   func(loop.Status) journal.Story
	watch  func(ctx context.Context, s loop.Status, cursor string) terminal.Story // until ctx ends
	run    func(args ...string) said                                              // runs a command of the program
	diff   func(s loop.Status, iteration int) (changed, error)
	now    func() time.Time
	send   func(message)
	beside func(func()) // does something in another goroutine
}

// A message is what has happened: a key, or one of those that end in Msg. An effect takes its
// time, and a message comes of it.
type (
	message  = tea.Msg
	effect   = tea.Cmd
	loopsMsg struct {
		look  int64 // which of all looks it was
		loops []loop.Status
	}
	saidMsg said
)

// said is what a command has printed.
type said struct {
	command string
	text    string
	isError bool
}

// model is all that the screen shows. One goroutine has it.
type model struct {
	world
	palette       terminal.Palette
	width, height int
	frame         int // of what turns
	leaves        bool

	looks   atomic.Int64 // how often anybody looked how the loops stand
	look    int64        // the look that loops are of
	loops   listing
	id      string // of the loop that is shown; "": none is
	inStory bool   // arrows move in its story, not among the loops

	story  transcript
	source source
	ctx    context.Context // ends with the story that is shown
	close  func()

	page      *page   // is shown in place of the story
	choice    *choice // is asked in its place
	input     *input  // takes what is typed
	said      said
	sought    string // the text that a search is for
	unfolding int    // iterations that are read for it
}

func newModel(w world, p terminal.Palette, width, height int) *model {
	m := &model{world: w, palette: p, width: width, height: height, close: func() {}, loops: listing{now: w.now}}
	m.story = newTranscript()
	return m
}

// update takes a message.
func (m *model) update(msg message) []effect {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.typed(keyOf(msg))
	case tea.PasteMsg:
		return m.typed(key{text: msg.Content})
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if m.storyWidth() != m.source.width {
			m.open()
		}
	case loopsMsg:
		if msg.look >= m.look { // two look at once, and the one that saw less may be the last to tell
			m.look = msg.look
			m.take(msg.loops)
		}
	case saidMsg:
		m.tell(said(msg))
		return []effect{m.list}
	case headsMsg:
		if msg.gen == m.source.gen {
			m.story.heads(msg.told)
		}
	case toldMsg:
		if msg.gen == m.source.gen {
			m.story.take(msg.told)
			if slices.ContainsFunc(msg.told, func(piece told) bool { return piece.isNews }) {
				return []effect{m.list}
			}
		}
	case loadedMsg:
		m.loaded(msg)
	case foundMsg:
		return m.found(msg)
	case aboutMsg:
		if msg.loop == m.id {
			return m.update(msg.message)
		}
		if s, ok := msg.message.(saidMsg); ok && s.isError { // another loop is shown by now
			m.fail(msg.loop + ": " + s.text)
		}
		return []effect{m.list}
	case page:
		m.show(&msg)
	case hunksMsg:
		if msg.page == m.page && msg.at == msg.page.tree.at {
			msg.page.text = msg.text
		}
	case choice:
		m.choice, m.said = &msg, said{}
	}
	return nil
}

// list asks for how all loops stand.
func (m *model) list() message {
	look := m.looks.Add(1)
	return loopsMsg{look, m.world.loops()}
}

// tell says what a command said: below, or in a page where that is too long.
func (m *model) tell(s said) {
	m.said = s
	if strings.Contains(s.text, "\n") {
		m.show(&page{title: s.command, text: s.text})
	}
}

// show shows a page in place of the one before; nil: none.
func (m *model) show(g *page) {
	if m.page != nil && m.page.tree != nil {
		m.page.tree.stop()
	}
	m.page, m.said = g, said{}
}

// fail says what went wrong.
func (m *model) fail(text string) { m.said = said{text: text, isError: true} }

// arrange lists the loops anew, and keeps the one that is shown if it can. The one that is held passes any filter.
func (m *model) arrange(held string) {
	m.loops.arrange(held)
	switch {
	case m.loops.indexOf(m.id) >= 0:
	case len(m.loops.shown) > 0:
		m.turnTo(m.loops.shown[0].LoopID)
	default:
		m.turnTo("")
	}
}

// take takes how the loops stand. Keys are meant for the one that is shown, so it stays.
func (m *model) take(loops []loop.Status) {
	asked := m.choice
	m.loops.all = loops
	m.arrange(m.id)
	s, ok := m.seen()
	isAsked := func(q ask.Question) bool { return q.ID == asked.question }
	if asked != nil && asked.question != "" && (!ok || !slices.ContainsFunc(s.Questions, isAsked)) {
		m.choice, m.said = nil, said{text: "that needs no answer any more"}
	}
}

// seen is the loop that is shown.
func (m *model) seen() (loop.Status, bool) {
	if at := m.loops.indexOf(m.id); at >= 0 {
		return m.loops.shown[at], true
	}
	return loop.Status{}, false
}

// turnTo shows another loop.
func (m *model) turnTo(id string) {
	if id != m.id {
		m.id, m.sought, m.choice = id, "", nil
		m.show(nil)
		m.open()
	}
}

// open begins to read the story of the loop that is shown.
func (m *model) open() {
	m.close()
	m.story = newTranscript()
	m.source.gen++
	s, ok := m.seen()
	if !ok {
		return
	}
	m.ctx, m.close = context.WithCancel(context.Background())
	m.source = source{
		story: func() journal.Story { return m.read(s) },
		watch: func(ctx context.Context, cursor string) terminal.Story { return m.watch(ctx, s, cursor) },
		gen:   m.source.gen, width: m.storyWidth(), palette: m.palette,
	}
	ctx, source := m.ctx, m.source
	m.beside(func() { source.follow(ctx, m.send) })
}

// unfold opens a section, or folds it.
func (m *model) unfold(s *section) []effect {
	if s == nil {
		return nil
	}
	isOpen := s.isOpen
	m.story.keep(s, func() int {
		s.isChosen, s.isOpen = true, !isOpen
		if at, _ := m.story.of(s.iteration); isOpen && at < len(m.story.sections)-1 { // else what comes is missed
			s.fold()
		}
		return 0
	})
	if isOpen || s.isLoaded {
		return nil
	}
	s.isLoaded = true
	ctx, source := m.ctx, m.source
	return []effect{func() message { return source.load(ctx, s.iteration) }}
}

func (m *model) loaded(msg loadedMsg) {
	_, s := m.story.of(msg.iteration)
	if msg.gen != m.source.gen || s == nil || !s.isOpen || len(s.lines) > 0 {
		return
	}
	for _, piece := range msg.told {
		m.story.add(s, piece)
	}
	if m.unfolding--; m.unfolding == 0 && m.sought != "" {
		m.story.search(m.sought, 1)
	}
}

// maxFound is how many iterations a search unfolds: those that came last.
const maxFound = 10

// found unfolds what has the text that is sought, and goes to where it is last.
func (m *model) found(msg foundMsg) (effects []effect) {
	if msg.gen != m.source.gen || msg.text != m.sought {
		return nil
	}
	m.said = said{text: "n and N go through what has “" + msg.text + "”"}
	if len(msg.iterations) == 0 && !m.story.search(msg.text, 1) {
		m.fail("nothing has “" + msg.text + "”")
	}
	for i, iteration := range msg.iterations {
		if _, s := m.story.of(iteration); s != nil && !s.isOpen && i >= len(msg.iterations)-maxFound {
			effects = append(effects, m.unfold(s)...)
		}
	}
	if m.unfolding = len(effects); m.unfolding == 0 && m.story.hit < 0 {
		m.story.search(msg.text, 1)
	}
	return effects
}

// stands is a loop as it stands now, with what has passed since it was asked.
func stands(st loop.Status, now time.Time) loop.Status {
	if !st.IterationStartedAt.IsZero() {
		st.Elapsed = max(st.Elapsed, st.Spent+now.Sub(st.IterationStartedAt))
	}
	return st
}
