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
	thoughts blockBuffer
	last     section
	shown    bool // some of the message at work was printed

	unwatch    func() // ends the watch for Ctrl-Z
	stopTicker chan struct{}
	ticking    sync.WaitGroup
}

func newPretty(cfg styleConfig) *prettyStyle {
	return &prettyStyle{
		cfg: cfg, screen: &screen{out: cfg.out}, markdown: newMarkdown(cfg.palette), calls: newCallLog(),
		texts: map[string]*blockBuffer{}, stopTicker: make(chan struct{}), unwatch: func() {},
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
			if s.cfg.job.foreground() {
				// One cell is left free: some terminals wrap a full line.
				s.screen.draw(liveLine(status(), frame, time.Now(), s.cfg.width()-1, s.cfg.palette))
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
			for _, block := range s.thoughts.add(stream.Plain(e.Delta)) {
				s.thought(block)
			}
		}
	case stream.MessageEnd:
		s.messageEnd(e)
	case stream.ToolCall:
		s.flush()
		s.section(sectionTool, p.cyan("●")+" "+fit(s.calls.begin(e, s.cfg.now()), s.cfg.width()-2))
	case stream.ToolResult:
		s.flush()
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
		s.flush()
		s.calls.reset()
		s.headline(e)
	case loop.IterationEnd:
		s.flush()
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
	case loop.Guidance:
		s.note(p.cyan(wire.GuidanceText(e)))
	case loop.Warning:
		s.warn(p.yellow("! "+plainLine(e.Message)), e.Offer)
	case loop.LimitsChanged:
		s.note(p.dim(wire.LimitsText(e)))
	case loop.End:
		s.flush()
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
	if changed := changesLine(e); changed != "" {
		s.section(sectionNote, p.dim("  "+changed))
	}
}

// text collects a message until it has a block to show.
func (s *prettyStyle) text(e stream.Text) {
	s.flushThoughts()
	if s.cfg.verbatim {
		s.verbatim(e.Delta)
		return
	}
	buffer := s.texts[e.ParentToolCallID]
	if buffer == nil {
		buffer = &blockBuffer{}
		s.texts[e.ParentToolCallID] = buffer
	}
	for _, block := range buffer.add(stream.Plain(e.Delta)) {
		s.block(e.ParentToolCallID, block)
	}
}

// verbatim shows whole lines; longer ones are the terminal's to wrap.
func (s *prettyStyle) verbatim(text string) {
	s.section(sectionVerbatim, strings.Split(strings.TrimSuffix(stream.Plain(text), "\n"), "\n")...)
}

// messageEnd shows the rest of a message, or drops it when it was taken back.
func (s *prettyStyle) messageEnd(e stream.MessageEnd) {
	s.flushThoughts()
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

// flush shows text whose message hasn't ended, before something else is shown.
func (s *prettyStyle) flush() {
	s.flushThoughts()
	for _, parent := range slices.Sorted(maps.Keys(s.texts)) {
		s.block(parent, s.texts[parent].flush())
	}
	clear(s.texts)
}

func (s *prettyStyle) flushThoughts() { s.thought(s.thoughts.flush()) }

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
	bar := s.cfg.palette.dim(subagentBar)
	s.section(sectionText, prefixed(s.markdown.render(source, width-5), bar, bar)...)
}

func (s *prettyStyle) thought(source string) {
	if source == "" {
		return
	}
	plain := &markdown{s.markdown.parser, palette{}}
	lines := plain.render(source, s.cfg.width()-3)
	for i, line := range lines {
		lines[i] = s.cfg.palette.paint(sgrDim+";"+sgrItalic, "  "+line)
	}
	s.section(sectionText, lines...)
}

// result prints "  ✓ 1.2s", or "  ✗ 1.2s" with the output in short.
func (s *prettyStyle) result(e stream.ToolResult) {
	p := s.cfg.palette
	title, duration := s.calls.end(e.ID, s.cfg.now())
	facts := fit(wire.JoinFacts(title, duration), s.cfg.width()-4)
	if !e.IsError {
		s.section(sectionTool, p.green("  ✓ ")+p.dim(facts))
		return
	}
	out := []string{p.red("  ✗ ") + p.dim(facts)}
	for _, line := range excerpt(e.Output, errorLines) {
		out = append(out, p.red("    "+fit(line, s.cfg.width()-5)))
	}
	s.section(sectionTool, out...)
}

func (s *prettyStyle) note(line string) {
	s.flush()
	s.section(sectionNote, line)
}

// section prints lines, with a blank one before them where the kind of output
// changes or a new paragraph begins.
func (s *prettyStyle) section(kind section, lines ...string) {
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
