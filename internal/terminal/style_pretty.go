package terminal

import (
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	redrawEvery = 100 * time.Millisecond // the live line, at most
	MaxRule     = 76                     // cells of an iteration's headline
	errorLines  = 5                      // of a failed tool's output
)

// prettyLook renders markdown, shows tool calls as they come, and keeps a live line at the
// bottom of a terminal. Plain text, which no block of markdown ends, is shown line by line
// as it is.
type prettyLook struct {
	cfg      Config
	screen   *screen
	markdown *Markdown
	calls    *callLog
	last     section
	shown    bool   // some of the message at work was printed
	open     string // the beginning of a line of plain text

	unwatch    func() // ends the watch for Ctrl-Z
	stopTicker chan struct{}
	ticking    sync.WaitGroup
}

func newPretty(cfg Config) *told {
	calls := new(callLog)
	shown := &prettyLook{
		cfg: cfg, screen: &screen{out: cfg.Out}, markdown: NewMarkdown(cfg.Palette), calls: calls,
		stopTicker: make(chan struct{}), unwatch: func() {},
	}
	loud := sgrBold + ";" + sgrYellow
	return &told{look: shown, cfg: cfg, calls: calls, marks: marks{
		failed: mark{"✗ ", sgrRed}, warning: mark{"! ", sgrYellow}, nearMiss: mark{"! ", loud}, question: mark{"? ", loud},
		more: mark{"  ", sgrDim},
		over: func(e loop.IterationEnd) mark {
			if e.Outcome != loop.OutcomeOK {
				return mark{"  ", sgrYellow}
			}
			return mark{"  ", sgrDim}
		},
		end: func(c loop.Class) mark {
			switch c {
			case loop.ClassOK:
				return mark{"✓ ", sgrBold + ";" + sgrGreen}
			case loop.ClassError:
				return mark{"✗ ", sgrBold + ";" + sgrRed}
			}
			return mark{"■ ", loud}
		},
	}, held: map[speaker]*blockBuffer{}}
}

// Live starts to draw the live line.
func (s *prettyLook) Live(status func() loop.Status) {
	if !s.cfg.terminal {
		return
	}
	hide := func() {
		if s.cfg.Here != "" && !s.cfg.Statuses { // else the loop stops as well
			s.screen.print("the loop goes on without this terminal; ralph-lsp pause pauses it")
		}
		s.screen.suspend()
	}
	s.unwatch = s.cfg.job.watch(func() { suspend(hide, s.screen.resume) })
	s.ticking.Go(func() {
		defer s.screen.close() // also when drawing panics: the cursor must come back
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for frame := 0; ; frame++ {
			if st := status(); s.cfg.Answers && len(st.Questions) > 0 { // what the user types stands there
				s.screen.draw("")
				s.screen.abandon()
			} else if s.cfg.job.foreground() {
				// One cell is left free: some terminals wrap a full line.
				s.screen.draw(LiveLine(st, frame, time.Now(), s.cfg.Width()-1, s.cfg.Palette))
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
func (s *prettyLook) Close() {
	close(s.stopTicker)
	s.ticking.Wait()
	s.unwatch()
	s.screen.close()
}

// Note prints between the loop's own lines.
func (s *prettyLook) Note(text string) { s.print(sectionNote, s.cfg.Palette.Yellow(text)) }

// begin rules off an iteration: "── iteration 3/50 ──────".
func (s *prettyLook) begin(title string) {
	title = "── " + title + " "
	line := title + strings.Repeat("─", max(min(s.cfg.Width(), MaxRule)-Cells(title), 2))
	s.print(sectionHead, s.cfg.Palette.paint(sgrBold+";"+sgrCyan, line))
}

// shows shows whole lines of plain text; longer ones are the terminal's to wrap. What isn't whole
// was cut, and goes on at once.
func (s *prettyLook) shows(delta string, by speaker) bool {
	isPlain := s.cfg.Verbatim && by.parent == "" && !by.thinking
	if isPlain {
		s.open += delta
		end := strings.LastIndexByte(s.open, '\n') + 1
		if end > 0 {
			s.print(sectionVerbatim, strings.Split(s.open[:end-1], "\n")...)
		}
		s.open = s.open[end:]
	}
	return isPlain
}

// endMessage says of a message that was taken back that it was, where some of it was shown.
func (s *prettyLook) endMessage(_ string, discarded bool) {
	if discarded && s.shown {
		s.print(sectionNote, s.cfg.Palette.Yellow(wire.DiscardText))
	}
	s.shown = false
}

// block renders a block of what somebody says: a subagent's is set apart, and so is reasoning.
func (s *prettyLook) block(by speaker, source string) {
	bar := s.calls.bar(by.parent)
	dim, width := s.cfg.Palette.Dim(bar), s.cfg.Width()-1-Cells(bar)
	if !by.thinking {
		s.shown = true
		s.print(sectionText, prefixed(s.markdown.Render(source, max(width, 1)), dim, dim)...)
		return
	}
	lines := (&Markdown{s.markdown.parser, Palette{}}).Render(source, max(width-2, 1))
	for i, line := range lines {
		lines[i] = dim + s.cfg.Palette.paint(sgrDim+";"+sgrItalic, "  "+line)
	}
	s.print(sectionText, lines...)
}

func (s *prettyLook) call(bar, title string) {
	p := s.cfg.Palette
	s.print(sectionTool, p.Dim(bar)+p.Cyan("●")+" "+Fit(title, s.cfg.Width()-2-Cells(bar)))
}

// result prints "  ✓ 1.2s", or "  ✗ 1.2s" with the output in short.
func (s *prettyLook) result(bar, facts string, e stream.ToolResult) {
	p := s.cfg.Palette
	width := s.cfg.Width() - Cells(bar)
	facts, bar = Fit(facts, width-4), p.Dim(bar)
	if !e.IsError {
		s.print(sectionTool, bar+p.Green("  ✓ ")+p.Dim(facts))
		return
	}
	out := []string{bar + p.Red("  ✗ ") + p.Dim(facts)}
	for _, line := range excerpt(e.Output, errorLines) {
		out = append(out, bar+p.Red("    "+Fit(line, width-5)))
	}
	s.print(sectionTool, out...)
}

// print prints lines, with a blank one before them where the kind of output changes or a
// new paragraph begins.
func (s *prettyLook) print(kind section, lines ...string) {
	if s.cfg.terminal && (kind == sectionNote || kind == sectionHead) { // else the terminal breaks words
		for i, line := range lines {
			lines[i] = Wrapped(line, s.cfg.Width(), 2)
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
