package main

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

const (
	redrawEvery = 100 * time.Millisecond // the live line, at most
	maxRule     = 76                     // cells of an iteration's headline
	errorLines  = 5                      // of a failed tool's output
)

// section is a kind of output; the gaps between them depend on it.
type section int

const (
	sectionNone section = iota
	sectionHead
	sectionText
	sectionVerbatim
	sectionTool
	sectionNote
)

// prettyStyle renders markdown, shows tool calls as they come, and keeps a
// live line at the bottom of a terminal. Plain text, which no block of markdown
// ends, is shown line by line as it is.
type prettyStyle struct {
	cfg      styleConfig
	screen   *screen
	markdown *markdown
	calls    *callLog
	texts    map[string]*blockBuffer // by the tool call of the subagent that speaks; "" is the agent
	thoughts map[string]*blockBuffer // the same
	last     section
	shown    bool // some of the message at work was printed

	unwatch    func() // ends the watch for Ctrl-Z
	stopTicker chan struct{}
	ticking    sync.WaitGroup
}

func newPretty(cfg styleConfig) *prettyStyle {
	return &prettyStyle{
		cfg: cfg, screen: &screen{out: cfg.out}, markdown: newMarkdown(cfg.palette), calls: newCallLog(),
		texts: map[string]*blockBuffer{}, thoughts: map[string]*blockBuffer{}, stopTicker: make(chan struct{}), unwatch: func() {},
	}
}

// Live starts to draw the live line.
func (s *prettyStyle) Live(status func() loop.Status) {
	if !s.cfg.terminal {
		return
	}
	s.unwatch = s.cfg.job.watch(s.screen.suspend, s.screen.resume)
	s.ticking.Go(func() {
		defer s.screen.close() // also when drawing panics: the cursor must come back
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for frame := 0; ; frame++ {
			if st := status(); s.cfg.answers && len(st.Questions) > 0 { // what the user types stands there
				s.screen.draw("")
				s.screen.abandon()
			} else if s.cfg.job.foreground() {
				// One cell is left free: some terminals wrap a full line.
				s.screen.draw(liveLine(st, frame, time.Now(), s.cfg.width()-1, s.cfg.palette))
			} else {
				s.screen.abandon()
			}
			select {
			case <-ticker.C:
			case <-s.stopTicker:
				return
			}
		}
	})
}

// Close prints what is pending and restores the terminal.
func (s *prettyStyle) Close() {
	close(s.stopTicker)
	s.ticking.Wait()
	s.unwatch()
	s.screen.close()
}

func (s *prettyStyle) Handle(e stream.Event) {
	p := s.cfg.palette
	switch e := e.(type) {
	case stream.Text:
		s.text(e)
	case stream.Thinking:
		if s.cfg.thinking {
			for _, block := range bufferOf(s.thoughts, e.ParentToolCallID).add(stream.Plain(e.Delta)) {
				s.thought(e.ParentToolCallID, block)
			}
		}
	case stream.MessageEnd:
		s.messageEnd(e)
	case stream.ToolCall:
		s.flush(e.ParentToolCallID)
		title, bar := s.calls.begin(e, s.cfg.now()), s.calls.bar(e.ParentToolCallID)
		s.section(sectionTool, p.dim(bar)+p.cyan("●")+" "+fit(title, s.cfg.width()-2-cells(bar)))
	case stream.ToolResult:
		s.flush(e.ID, e.ParentToolCallID)
		s.result(e)
	case stream.Retry:
		s.note(p.yellow(wire.RetryText(e)))
	case stream.Compaction:
		s.note(p.dim(wire.CompactionText(e)))
	case stream.Error:
		s.note(p.red("✗ " + plainLine(e.Message)))
	}
}

func (s *prettyStyle) HandleLoop(e loop.Event) {
	p := s.cfg.palette
	switch e := e.(type) {
	case loop.IterationStart:
		s.flushAll()
		s.calls.reset()
		s.headline(e)
	case loop.IterationEnd:
		s.flushAll()
		paint := p.dim
		if e.Outcome != loop.OutcomeOK {
			paint = p.yellow
		}
		s.section(sectionNote, paint("  "+iterationLine(e)))
	case loop.StateChanged:
		if said := stateLine(e, s.cfg.now()); said != "" {
			s.note(p.yellow(said))
		}
	case loop.NearMiss:
		s.warn(p.paint(sgrBold+";"+sgrYellow, "! "+wire.NearMissText(e)), e.Offer)
	case loop.Goal:
		s.note(p.dim(wire.GoalText(e)))
	case loop.Verify:
		for _, line := range verifyLines(e) {
			s.note(p.class(wire.VerifyClass(e), line))
		}
		for _, line := range offerLines(e.Offer) {
			s.note(line)
		}
	case loop.Asked:
		for i, line := range s.cfg.ask(e.Question) {
			if i == 0 {
				line = p.paint(sgrBold+";"+sgrYellow, "? "+line)
			}
			s.note(line)
		}
	case loop.Answered:
		s.note(p.yellow(wire.AnsweredText(e.Question, e.Answer)))
	case loop.Published:
		s.note(p.dim(wire.TopicText(stream.Topic(e))))
	case loop.Guidance:
		s.note(p.cyan(wire.GuidanceText(e)))
	case loop.Warning:
		s.warn(p.yellow("! "+plainLine(e.Message)), e.Offer)
	case loop.LimitsChanged:
		s.note(p.dim(wire.LimitsText(e)))
	case loop.End:
		s.flushAll()
		s.end(e)
	}
}

// warn prints a warning with what can be done about it.
func (s *prettyStyle) warn(line string, offer loop.Offer) {
	s.note(line)
	for _, line := range offerLines(offer) {
		s.note(line)
	}
}

// Note prints between the loop's own lines.
func (s *prettyStyle) Note(text string) { s.note(s.cfg.palette.yellow(text)) }

// headline rules off an iteration: "── iteration 3/50 ──────".
func (s *prettyStyle) headline(e loop.IterationStart) {
	title := "── iteration " + wire.JoinFacts(tell.OfMax(e.Iteration, e.MaxIterations), wire.HatText(e)) + " "
	line := title + strings.Repeat("─", max(min(s.cfg.width(), maxRule)-cells(title), 2))
	s.section(sectionHead, s.cfg.palette.paint(sgrBold+";"+sgrCyan, line))
}

func (s *prettyStyle) end(e loop.End) {
	p := s.cfg.palette
	line := wire.EndLine(e)
	switch e.Reason.Ending().Class {
	case loop.ClassOK:
		line = p.paint(sgrBold+";"+sgrGreen, "✓ "+line)
	case loop.ClassError:
		line = p.paint(sgrBold+";"+sgrRed, "✗ "+line)
	default:
		line = p.paint(sgrBold+";"+sgrYellow, "■ "+line)
	}
	s.section(sectionHead, line)
	for _, more := range []string{changesLine(e), goOnLine(e)} {
		if more != "" {
			s.section(sectionNote, p.dim("  "+more))
		}
	}
}

// text collects a message until it has a block to show.
func (s *prettyStyle) text(e stream.Text) {
	s.flushThoughts(e.ParentToolCallID)
	if s.cfg.verbatim && e.ParentToolCallID == "" {
		s.verbatim(e.Delta)
		return
	}
	for _, block := range bufferOf(s.texts, e.ParentToolCallID).add(stream.Plain(e.Delta)) {
		s.block(e.ParentToolCallID, block)
	}
}

// verbatim shows whole lines; longer ones are the terminal's to wrap.
func (s *prettyStyle) verbatim(text string) {
	s.section(sectionVerbatim, strings.Split(strings.TrimSuffix(stream.Plain(text), "\n"), "\n")...)
}

// messageEnd shows the rest of a message, or drops it when it was taken back.
func (s *prettyStyle) messageEnd(e stream.MessageEnd) {
	s.flushThoughts(e.ParentToolCallID)
	buffer := s.texts[e.ParentToolCallID]
	delete(s.texts, e.ParentToolCallID)
	switch {
	case e.Discarded && s.shown:
		s.note(s.cfg.palette.yellow(wire.DiscardText))
	case e.Discarded: // nothing of it was shown
	case buffer != nil:
		s.block(e.ParentToolCallID, buffer.flush())
	}
	s.shown = false
}

// bufferOf is what is collected of a speaker's.
func bufferOf(buffers map[string]*blockBuffer, parent string) *blockBuffer {
	if buffers[parent] == nil {
		buffers[parent] = &blockBuffer{}
	}
	return buffers[parent]
}

// flush shows text of some speakers whose message hasn't ended, before something else of
// theirs is shown. Others may be in the middle of a word.
func (s *prettyStyle) flush(parents ...string) {
	for _, parent := range parents {
		s.flushThoughts(parent)
		if buffer := s.texts[parent]; buffer != nil {
			delete(s.texts, parent)
			s.block(parent, buffer.flush())
		}
	}
}

// flushAll does so with all speakers.
func (s *prettyStyle) flushAll() {
	s.flush(slices.Sorted(maps.Keys(s.thoughts))...)
	s.flush(slices.Sorted(maps.Keys(s.texts))...)
}

func (s *prettyStyle) flushThoughts(parent string) {
	if buffer := s.thoughts[parent]; buffer != nil {
		delete(s.thoughts, parent)
		s.thought(parent, buffer.flush())
	}
}

// block renders a block of the agent's text, or of a subagent's, set apart.
func (s *prettyStyle) block(parent, source string) {
	if source == "" {
		return
	}
	s.shown = true
	width := s.cfg.width()
	if parent == "" {
		s.section(sectionText, s.markdown.render(source, width-1)...)
		return
	}
	bar := s.calls.bar(parent)
	dim := s.cfg.palette.dim(bar)
	s.section(sectionText, prefixed(s.markdown.render(source, max(width-1-cells(bar), 1)), dim, dim)...)
}

func (s *prettyStyle) thought(parent, source string) {
	if source == "" {
		return
	}
	plain := &markdown{s.markdown.parser, palette{}}
	bar := s.calls.bar(parent)
	lines := plain.render(source, max(s.cfg.width()-3-cells(bar), 1))
	for i, line := range lines {
		lines[i] = s.cfg.palette.dim(bar) + s.cfg.palette.paint(sgrDim+";"+sgrItalic, "  "+line)
	}
	s.section(sectionText, lines...)
}

// result prints "  ✓ 1.2s", or "  ✗ 1.2s" with the output in short.
func (s *prettyStyle) result(e stream.ToolResult) {
	p := s.cfg.palette
	bar, facts := s.calls.end(e, s.cfg.now())
	width := s.cfg.width() - cells(bar)
	facts, bar = fit(facts, width-4), p.dim(bar)
	if !e.IsError {
		s.section(sectionTool, bar+p.green("  ✓ ")+p.dim(facts))
		return
	}
	out := []string{bar + p.red("  ✗ ") + p.dim(facts)}
	for _, line := range excerpt(e.Output, errorLines) {
		out = append(out, bar+p.red("    "+fit(line, width-5)))
	}
	s.section(sectionTool, out...)
}

func (s *prettyStyle) note(line string) {
	s.flushAll()
	s.section(sectionNote, line)
}

// section prints lines, with a blank one before them where the kind of output
// changes or a new paragraph begins.
func (s *prettyStyle) section(kind section, lines ...string) {
	if s.cfg.terminal && (kind == sectionNote || kind == sectionHead) { // else the terminal breaks words
		for i, line := range lines {
			lines[i] = wrapped(line, s.cfg.width(), 2)
		}
	}
	if gapBetween(s.last, kind) {
		lines = append([]string{""}, lines...)
	}
	s.last = kind
	if kind != sectionTool { // a result that comes now isn't below its call any more
		s.calls.last = ""
	}
	s.screen.print(lines...)
}

func gapBetween(before, next section) bool {
	switch {
	case before == sectionNone, next == sectionNote, next == sectionVerbatim:
		return false
	case next == sectionHead:
		return true
	case next == sectionText:
		return before != sectionHead
	}
	return before == sectionText || before == sectionNote && next == sectionTool
}
