package documents

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// diagnosticSource is who says so, as editors show it.
const diagnosticSource = "ralph"

// maxFrontMatter is the longest front matter that is looked at, in bytes.
const maxFrontMatter = 64 << 10

// suggestedIterations is what "set max_iterations" sets.
var suggestedIterations = limits.Default().MaxIterations

// suggestedPromise is what "add a completion promise" adds.
const suggestedPromise = "DONE"

// finding is something to tell about a document, at offsets of its text.
type finding struct {
	start, end int
	severity   protocol.DiagnosticSeverity
	message    string
	fixes      []fix
}

// fix mends a finding.
type fix struct {
	title string
	edits []edit
}

// edit replaces a range of the text.
type edit struct {
	start, end int
	text       string
}

// difference returns the one edit that makes a text of another; none if they
// are the same.
func difference(from, to string) []edit {
	if from == to {
		return nil
	}
	start, shorter := 0, min(len(from), len(to))
	for start < shorter && from[start] == to[start] {
		start++
	}
	tail := 0
	for tail < shorter-start && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	for start > 0 && (splits(from, start) || splits(to, start)) {
		start--
	}
	for tail > 0 && (splits(from, len(from)-tail) || splits(to, len(to)-tail)) {
		tail--
	}
	return []edit{{start, len(from) - tail, to[start : len(to)-tail]}}
}

// splits says whether an offset is inside a character or a line's ending,
// where no position can point to.
func splits(text string, offset int) bool {
	if offset == 0 || offset >= len(text) {
		return false
	}
	return !utf8.RuneStart(text[offset]) || text[offset-1] == '\r' && text[offset] == '\n'
}

// Diagnostic answers textDocument/diagnostic.
func (d *Documents) Diagnostic(p protocol.DocumentDiagnosticParams) protocol.DocumentDiagnosticReport {
	found := []protocol.Diagnostic{}
	if doc := d.get(p.TextDocument.URI); doc != nil {
		found = d.diagnostics(doc)
		d.isNews(doc.uri, methodRefreshDiagnostic, summary(found))
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{
		FullDocumentDiagnosticReport: protocol.FullDocumentDiagnosticReport{Kind: "full", Items: found},
	}
}

// diagnostics returns what is to be told about a document; never nil.
func (d *Documents) diagnostics(doc *document) []protocol.Diagnostic {
	found := []protocol.Diagnostic{}
	for _, f := range d.findings(doc) {
		found = append(found, doc.diagnostic(f))
	}
	return found
}

func (doc *document) diagnostic(f finding) protocol.Diagnostic {
	return protocol.Diagnostic{
		Range: doc.span(f.start, f.end), Severity: f.severity,
		Source: protocol.NewOptional(diagnosticSource), Message: protocol.String(stream.Sanitize(f.message)),
	}
}

func (d *Documents) findings(doc *document) []finding {
	found := d.findingsOf(doc)
	if doc.isCut() {
		found = append(found, finding{severity: protocol.DiagnosticSeverityInformation,
			message: fmt.Sprintf("only the first %d KiB of %d are looked at", len(doc.text)>>10, len(doc.whole)>>10)})
	}
	return found
}

func (d *Documents) findingsOf(doc *document) []finding {
	switch doc.kind {
	case stateDoc:
		return d.stateFindings(doc)
	case configDoc:
		return d.configFindings(doc)
	case planDoc:
		if view, ok := d.planOf(doc); ok {
			return view.findings()
		}
	case promptDoc:
		if strings.TrimSpace(doc.text) == "" {
			return []finding{{severity: protocol.DiagnosticSeverityHint, message: loop.ErrEmptyPrompt.Error()}}
		}
	}
	return nil
}

// stateFindings looks at a state file: first whether it can be read, then
// whether a loop can be what its author meant.
func (d *Documents) stateFindings(doc *document) []finding {
	text := doc.text
	front, _ := loopstate.FrontOf(text)
	if size := front.End - front.Start; size > maxFrontMatter {
		message := fmt.Sprintf("the front matter has %d bytes, more than %d; is a line of \"---\" missing above the prompt?",
			size, maxFrontMatter)
		return []finding{{end: front.Start, severity: protocol.DiagnosticSeverityError, message: message}}
	}
	var found []finding
	parsed, bad := loopstate.Read([]byte(text))
	for _, e := range bad {
		start, end := lineRange(text, e.Line)
		found = append(found, finding{start: start, end: end, severity: protocol.DiagnosticSeverityError, message: e.Msg})
	}
	if parsed == nil {
		return found
	}
	isBad := len(found) > 0
	for _, p := range parsed.Problems() {
		found = append(found, problemFinding(text, front, p))
	}
	if isBad {
		slices.SortStableFunc(found, func(a, b finding) int { return a.start - b.start })
		return found // what the rest means isn't known
	}
	state := parsed.State()
	found = append(found, limitFindings(text, front, state)...)
	return append(found, d.loopFindings(doc, front, state)...)
}

// problemFinding is a problem of the front matter: an unknown key, or a stray line.
func problemFinding(text string, front loopstate.Front, p loopstate.Problem) finding {
	start, end := lineRange(text, p.Line)
	f := finding{start: start, end: end, severity: protocol.DiagnosticSeverityWarning, message: p.Msg}
	if p.Key == "" {
		return f
	}
	if l, ok := front.LineAt(start); ok {
		f.start, f.end = l.KeyStart, l.KeyEnd
	}
	if p.Near != "" {
		f.fixes = []fix{{"change it to " + p.Near, []edit{{f.start, f.end, p.Near}}}}
	}
	return f
}

// limitFindings looks at limits that can be read, but make no sense.
func limitFindings(text string, front loopstate.Front, s loopstate.State) []finding {
	var found []finding
	add := func(key string, severity protocol.DiagnosticSeverity, message string, fixes ...fix) {
		l, _ := front.Line(key)
		found = append(found, finding{l.ValueStart, l.ValueEnd, severity, message, fixes})
	}
	if why := promises.CheckPromise(s.CompletionPromise()); why != "" {
		add("completion_promise", protocol.DiagnosticSeverityError, "completion_promise "+why)
	}
	l := s.Limits()
	switch {
	case l.MaxIterations == 0 && s.CompletionPromise() == "" && l.MaxCostUSD == 0:
		add("max_iterations", protocol.DiagnosticSeverityWarning,
			limits.Unbounded,
			limitFix(text), promiseFix(text))
	case l.MaxIterations > 0 && s.Iteration > l.MaxIterations:
		message := fmt.Sprintf("iteration %d is over the limit of %d; raise max_iterations to go on", s.Iteration, l.MaxIterations)
		add("iteration", protocol.DiagnosticSeverityWarning, message)
	}
	return found
}

func limitFix(text string) fix {
	return fix{fmt.Sprintf("Set max_iterations to %d", suggestedIterations),
		editState(text, func(s *loopstate.State) { s.MaxIterations = &suggestedIterations })}
}

func promiseFix(text string) fix {
	return fix{"Add the completion promise " + suggestedPromise,
		editState(text, func(s *loopstate.State) { s.Promise = new(suggestedPromise) })}
}

// loopFindings looks at what a state file says beside what is there: a loop
// that nobody drives, a backend that isn't installed.
func (d *Documents) loopFindings(doc *document, front loopstate.Front, s loopstate.State) []finding {
	var found []finding
	status, ok := d.env.LoopIn(d.folderOf(doc))
	if ok && wire.IsLeft(status) && (s.Active || status.State == string(loop.StateFailed)) { // else it was paused on purpose
		found = append(found, leftFinding(doc.text, front, status))
	}
	if hint := d.env.MissingBackend(s.Backend); s.Backend != "" && hint != "" {
		l, _ := front.Line("backend")
		found = append(found, missingBackend(s.Backend, hint, l.ValueStart, l.ValueEnd))
	}
	return found
}

// leftFinding is a warning about a loop that nobody drives, at the key that says so.
func leftFinding(text string, front loopstate.Front, l wire.LoopStatus) finding {
	start, end := lineRange(text, 1)
	if line, ok := front.Line("active"); ok {
		start, end = line.KeyStart, line.ValueEnd
	}
	message := wire.LeftSentence("here", loop.StopReason(l.StopReason), l.Iteration, l.MaxIterations, l.Error)
	return finding{start: start, end: end, severity: protocol.DiagnosticSeverityWarning, message: message + " Resume or discard it."}
}

func missingBackend(name, hint string, start, end int) finding {
	return finding{start: start, end: end, severity: protocol.DiagnosticSeverityWarning,
		message: fmt.Sprintf("%s is not installed: %s", name, hint)}
}

func (d *Documents) configFindings(doc *document) []finding {
	var found []finding
	data := []byte(doc.text)
	for _, p := range config.FilesOf("", backends.Names()).Check(data) {
		line, _ := lineRange(doc.text, p.Line)
		f := finding{start: line + p.Column - 1, end: line + p.EndColumn - 1, severity: protocol.DiagnosticSeverityError, message: p.Message}
		if p.Severity == config.Warning {
			f.severity = protocol.DiagnosticSeverityWarning
		}
		if p.Fix != nil {
			f.fixes = []fix{{p.Fix.Title, []edit{{f.start, f.end, p.Fix.Text}}}}
		}
		found = append(found, f)
	}
	for _, ref := range config.Parse(data).References(func(k config.Key) bool { return k.Type == config.Backend }) {
		if hint := d.env.MissingBackend(ref.Name); hint != "" {
			found = append(found, missingBackend(ref.Name, hint, ref.Start, ref.End))
		}
	}
	return append(found, d.agentFindings(doc)...)
}

// agentFindings looks for the agents that steps name.
func (d *Documents) agentFindings(doc *document) (found []finding) {
	refs := config.Parse([]byte(doc.text)).References(func(k config.Key) bool { return k.Name() == "agent" }) // of steps
	if len(refs) == 0 {
		return nil
	}
	set := agents.Read(d.folderOf(doc))
	for _, ref := range refs {
		if _, _, err := set.Find(ref.Name, ""); err != nil {
			found = append(found, finding{start: ref.Start, end: ref.End, severity: protocol.DiagnosticSeverityWarning, message: err.Error()})
		}
	}
	return found
}

// lineRange returns where the text of a line is; 1 is the first. Files know
// only LF as a line's end, whatever an editor may show.
func lineRange(text string, line int) (start, end int) {
	rest := text
	for range line - 1 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	first, _, _ := strings.Cut(rest, "\n")
	start = len(text) - len(rest)
	return start, start + len(strings.TrimRight(first, " \t\r"))
}
