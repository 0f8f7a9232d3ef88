package verify

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	maxFailed   = MaxExcerpt / 2 // bytes of the lines that say what failed
	maxProblems = 100
	maxMessage  = 300 // characters of a problem's message, and of a headline
)

// scanner reads an output line by line.
type scanner struct {
	signs
	failed   []string // lines that say what failed
	size     int      // of them
	named    string   // the first that names a test or a mistake
	detailed string   // the first that says more of one
	cause    string   // the last that names one, for places without a message
	inTest   bool     // go's lines of a failed test follow
	last     string   // that isn't empty
	problems []Problem
}

// add looks at a line.
func (s *scanner) add(raw string) {
	line := strings.TrimRight(stream.Sanitize(strings.TrimRight(raw, "\r\n")), " \t")
	text := strings.TrimSpace(line)
	if text == "" {
		return
	}
	s.last = stream.Line(text, maxMessage)
	s.signs.look(text)
	if s.size >= maxFailed && len(s.problems) >= maxProblems {
		return
	}
	problem, isProblem := problemIn(text)
	name, isName := nameIn(text)
	isDetail := isProblem || s.inTest && line != text || detail().MatchString(text)
	if isName {
		s.cause = name
		if s.named == "" {
			s.named = stream.Line(name, maxMessage)
		}
	}
	s.inTest = strings.HasPrefix(text, "--- FAIL") || s.inTest && line != text
	if isDetail && !isName && s.detailed == "" {
		s.detailed = stream.Line(text, maxMessage)
	}
	if (isName || isDetail) && s.size < maxFailed {
		kept := shown(line)
		s.size += len(kept) + 1
		s.failed = append(s.failed, kept)
	}
	if isProblem {
		s.addProblem(problem)
	}
}

// addProblem adds a place, once. A place without a message gets the message of the last failure.
func (s *scanner) addProblem(p Problem) {
	if p.Message == "" {
		p.Message, s.cause = s.cause, "" // the next lines are its stack
	}
	if p.Message = stream.Line(p.Message, maxMessage); p.Message != "" && len(s.problems) < maxProblems && !slices.Contains(s.problems, p) {
		s.problems = append(s.problems, p)
	}
}

// names begin lines that name a test that failed, or a mistake: go, pytest,
// node, jest, mocha and vitest, rust, and what programs in general say.
var names = []string{
	"--- FAIL: ", "FAILED ", "ERROR ", "not ok ", "● ", "✕ ", "✖ ", "× ", "✗ ", "FAIL: ", "ERROR: ",
	"error: ", "error[", "Error: ", "panic: ", "fatal: ", "fatal error: ", "AssertionError", "SyntaxError", "TypeError", "ReferenceError",
}

// nameIn returns what failed in the words of a line that names it.
func nameIn(text string) (name string, ok bool) {
	if strings.HasPrefix(text, "test ") && strings.HasSuffix(text, " ... FAILED") { // cargo
		return strings.TrimSuffix(strings.TrimPrefix(text, "test "), " ... FAILED"), true
	}
	for _, begin := range names {
		rest, ok := strings.CutPrefix(text, begin)
		switch {
		case !ok:
			continue
		case begin == "not ok " && (strings.Contains(rest, "# TODO") || strings.Contains(rest, "# SKIP")):
			return "", false
		case begin == "--- FAIL: ":
			name, _, _ = strings.Cut(rest, " (")
			return name, true
		case begin == "not ok ":
			return strings.TrimLeft(rest, "0123456789 -"), true
		case begin == "FAILED ", begin == "ERROR ", begin[0] >= utf8.RuneSelf:
			return rest, rest != "Test Suites" && !strings.HasPrefix(rest, "failing tests")
		}
		return text, true
	}
	for _, within := range []string{": error: ", ": fatal error: ", ": error TS", " - error TS"} { // gcc, clang, tsc
		if strings.Contains(text, within) {
			return text, true
		}
	}
	return "", false
}

// detail begins a line that says more of a failure.
var detail = lazy.Regexp(`^(FAIL[\t ]|E  |[Ee]xpected|Received|assertion |left: |right: |thread ')`)

// places stand before a place, which may stand alone: its message is elsewhere.
var places = map[string]bool{"--> ": true, "❯ ": true, "location: ": true, "error: ": false, "vet: ": false}

// problemIn finds the place in a file that a line tells a mistake of.
func problemIn(text string) (p Problem, ok bool) {
	rest := text
	bare := false // the message stands elsewhere
	for before, isAlone := range places {
		if after, ok := strings.CutPrefix(text, before); ok {
			rest, bare = after, isAlone
		}
	}
	if at := strings.LastIndexByte(text, '('); at > 0 && strings.HasPrefix(text, "at ") && !strings.Contains(text, "node_modules") {
		rest, bare = strings.TrimSuffix(text[at+1:], ")"), true // a stack of node's
	}
	rest = strings.Trim(rest, "'")
	if _, after, ok := strings.Cut(text, " panicked at "); ok { // rust
		rest, bare = after, true
	}
	m := tscPlace().FindStringSubmatch(rest)
	isTSC := m != nil
	if !isTSC {
		m = place().FindStringSubmatch(rest)
	}
	if m == nil || len(m[1]) > maxMessage {
		return p, false
	}
	p.Path, rest = m[1], m[4]
	p.Line, _ = number(m[2])
	p.Column, _ = number(m[3])
	switch {
	case p.Line == 0:
		return p, false
	case isTSC:
		p.Message = rest
		return p, true
	case bare:
		return p, strings.Trim(rest, ": ") == ""
	}
	message, isSaid := strings.CutPrefix(rest, ":")
	if !isSaid {
		message, isSaid = strings.CutPrefix(rest, " - ") // tsc
	}
	p.Message = strings.TrimSpace(message)
	return p, isSaid && p.Message != "" && !remark().MatchString(p.Message)
}

// sourceFile looks like the name of a source file. A drive's letter belongs to the path.
const sourceFile = `((?:.:[\\/])?[^:\s"'` + "`" + `<>|*?()]+\.[A-Za-z][A-Za-z0-9+]{0,7})`

var (
	place    = lazy.Regexp(`^` + sourceFile + `:(\d{1,9})(?::([1-9]\d{0,8}))?(.*)$`)
	tscPlace = lazy.Regexp(`^` + sourceFile + `\((\d{1,9})(?:,(\d{1,9}))?\): (error .*)$`) // src/x.ts(3,5): error TS2322: ...

	// remark begins a message that isn't about a mistake.
	remark = lazy.Regexp(`(?i)^(warning|note:|info:|remark:|hint:|in function|from )`)
)
