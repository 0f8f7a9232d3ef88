package wire

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// MaxTitle is the longest title of a tool call, in runes.
const MaxTitle = 120

// maxCalls is how many calls without a result are remembered.
const maxCalls = 1024

// Projector turns a loop's events into updates. It keeps what it needs to
// count the loop's cost over its iterations; one per loop, for one goroutine.
type Projector struct {
	Spent stream.Cost      // by the iterations that ended
	Usage UsageUpdate      // the last one sent
	calls []ToolCallUpdate // the ends of the calls that have none yet, in the order of their begins
}

// StatusOf returns the wire's form of a loop's status. Owned says that
// this process drives the loop.
func StatusOf(s loop.Status, owned bool) LoopStatus {
	out := LoopStatus{
		LoopID: s.LoopID, Folder: FileURI(s.Folder), Worktree: worktreeOf(s.Worktree), State: string(s.State),
		Iteration: s.Iteration, MaxIterations: s.Limits.MaxIterations, Tasks: TasksOf(s),
		Condition: conditionOf(s), Times: sanitized(s.Times), SilentSince: history.TimeOf(s.SilentSince()), Hat: stream.Sanitize(s.Hat),
		Usage: usageOf(s), Work: workOf(s), Owned: owned,
		Ending: Ending{StopReason: string(s.StopReason), Error: stream.Sanitize(s.Error), EndedAt: history.TimeOf(s.EndedAt)},
	}
	if s.Sandbox != "" {
		out.Sandbox = &Sandbox{sandboxed, stream.Sanitize(s.Sandbox)}
	}
	if b := s.Session; b.Backend != "" {
		out.Backend = &BackendInfo{stream.Sanitize(b.Backend), stream.Sanitize(b.Version), stream.Sanitize(b.Provider), stream.Sanitize(b.Model)}
	}
	out.StateFileURI, out.SessionFileURI = FileURI(s.StateFile), FileURI(s.SessionFile)
	out.say(s)
	return out
}

// usageOf is what a loop has used so far.
func usageOf(s loop.Status) Usage {
	u := Usage{Hats: sanitized(s.Hats), Time: TimeStatus{stream.Duration(s.Spent), stream.Duration(s.Limits.MaxDuration)},
		Tokens: history.TokensOf(s.Tokens)}
	if !s.Cost.IsZero() {
		u.Cost = &CostStatus{CostOf(s.Cost).USD, "USD", s.Limits.MaxCostUSD, CostOf(s.IterationCost), s.UnknownCosts != 0, max(s.UnknownCosts, 0)}
	}
	if s.Context > 0 {
		u.Context = &Context{s.Context, s.ContextSize}
	}
	for _, q := range s.Quota {
		q.Rejected = false
		u.Quota = append(u.Quota, sanitized(q))
	}
	return u
}

// workOf is what works for a loop right now, and what waits for its user.
func workOf(s loop.Status) Work {
	w := Work{Agents: runningOf(s.Agents.Outermost()), Questions: questionsOf(s), Allowed: allowedOf(s)}
	if s.Tool != nil {
		w.Tool = &runningOf([]loop.ToolStatus{*s.Tool})[0]
	}
	if r := s.Retry; r != nil {
		w.Retry = &RetryStatus{sanitized(*r), stream.Sanitize(loop.WaitText(r.Reason))}
	}
	return w
}

// say puts into words where a loop stands, and what can be done with it.
func (l *LoopStatus) say(s loop.Status) {
	facts := factsOf(*l)
	l.Live, l.Busy, l.Detached = facts.live, facts.busy, s.Detached && facts.live
	l.Title, l.Class = titleOf(s), classOfLoop(*l)
	l.Can, l.Offers = can(s), OffersAfter(s)
	l.Text = JoinFacts(TextOf(*l), suspendedText(s))
	l.Line = l.Text
	if l.Live && s.State != loop.StatePaused {
		l.Question = questionActive
	}
	if l.Live {
		l.Line = Line(s, nil, time.Time{})
		if !l.Owned && !l.Detached {
			l.Line += " · in another process"
		}
		l.CostText = "unknown"
		if agent, err := backends.Lookup(s.Session.Backend); err == nil && agent.HasCost() {
			l.CostText = "not known yet"
		}
	}
	if cost := CostText(s.Cost, s.UnknownCosts); cost != "" {
		l.CostText = cost
		if s.Limits.MaxCostUSD > 0 {
			l.CostText += " of " + format.USD(s.Limits.MaxCostUSD)
		}
	}
	if s.State != StateIdle {
		l.LimitTexts = limitTexts(s.Limits, s.Promise)
	}
	l.Details = detailsOf(*l, s)
	if s.Last != nil {
		last := *s.Last
		if s.State != StateIdle {
			last.Status = s
			l.Details = append(append(l.Details, Detail{"Result", EndLine(last)}), accountRows(last)...)
		}
		l.Last = new(ReceiptOf(last, InFolder(s.Folder)))
	}
}

// titleOf is what a loop is called wherever it is shown: its prompt's beginning, as in the
// history. Where nobody knows that, it is its folder's name.
func titleOf(s loop.Status) string {
	return stream.Sanitize(cmp.Or(s.Title, filepath.Base(s.Folder)))
}

// Disambiguate adds to the titles of loops that have the same prompt where those are.
func Disambiguate(loops []LoopStatus) {
	titles, places := map[string]int{}, map[string]int{}
	for _, l := range loops {
		titles[l.Title]++
		places[l.place()]++
	}
	for i := range loops {
		if l := &loops[i]; titles[l.Title] > 1 {
			place := l.place()
			if places[place] > 1 {
				folder, _ := PathOf(l.Folder)
				place = filepath.Base(filepath.Dir(folder)) + "/" + place
			}
			l.Title += " (" + stream.Sanitize(place) + ")"
		}
	}
}

// place is the name of a loop's folder, or its repository's and the branch.
func (l LoopStatus) place() string {
	if t := l.Worktree; t != nil {
		repo, _ := PathOf(t.Repository)
		return filepath.Base(repo) + ", " + t.Branch
	}
	path, _ := PathOf(l.Folder)
	return filepath.Base(path)
}

// NameOf begins what a user is told of a loop: "Ralph", and which one where there are several.
func NameOf(l LoopStatus, several bool) string {
	if several && l.Title != "" {
		return `Ralph "` + stream.Line(l.Title, maxName) + `"`
	}
	return "Ralph"
}

// maxName is the longest title in a sentence, in runes.
const maxName = 40

// share returns n, and 0 for infinity and NaN, which JSON can't write.
func share(n float64) float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// CostOf is a cost as it is told: to a billionth, as sums of fractions end in noise, and unknown
// when nothing can have cost that much.
func CostOf(c stream.Cost) stream.Cost {
	if c.IsZero() {
		return stream.Cost{}
	}
	return stream.USD(math.Round(c.USD*1e9) / 1e9)
}

// kinds sorts the tools of pi (lower case) and claude (capitalised) that write no file.
var kinds = map[string]ToolKind{
	"bash": ToolExecute, "Bash": ToolExecute, "shell": ToolExecute, "run_shell_command": ToolExecute, "command_execution": ToolExecute,
	"read": ToolRead, "Read": ToolRead, "read_file": ToolRead, "read_many_files": ToolRead, "view": ToolRead,
	"grep": ToolSearch, "find": ToolSearch, "ls": ToolSearch, "Glob": ToolSearch, "Grep": ToolSearch,
	"glob": ToolSearch, "list": ToolSearch, "list_directory": ToolSearch, "search_file_content": ToolSearch,
	"WebFetch": ToolFetch, "WebSearch": ToolFetch, "web_fetch": ToolFetch, "webfetch": ToolFetch,
	"web_search": ToolFetch, "google_web_search": ToolFetch,
}

// ToolCallOf returns the wire's form of a tool call that starts.
func ToolCallOf(e stream.ToolCall) ToolCall {
	call := ToolCall{
		SessionUpdate: KindToolCall, ToolCallID: e.ID, ParentToolCallID: e.ParentToolCallID,
		Name: stream.Sanitize(e.Name), Title: stream.Sanitize(e.Name), Kind: kinds[e.Name], Status: StatusInProgress, RawInput: e.Input,
	}
	if s, ok := e.Subagent(); ok {
		call.delegates(s)
		return call
	}
	switch {
	case e.Writes():
		call.Kind = ToolEdit
	case call.Kind == "":
		call.Kind = ToolOther
	}
	in := readInput(e.Input)
	if path := in.first("file_path", "path", "notebook_path"); path != "" {
		call.Locations = []Location{{path, in.line()}}
	}
	title := in.first("command", "pattern")
	if title == "" {
		title = shortPath(in.first("file_path", "path", "notebook_path"), e.Dir)
	}
	if title == "" {
		title = in.first("url", "query", "description")
	}
	if title = OneLine(title); title != "" {
		call.Title = title
	}
	return call
}

// shownElements is how many elements of an absolute path a title shows.
const shownElements = 3

// shortPath is a path from the loop's folder on. Of one that leads elsewhere the end
// tells files apart where a line has little room.
func shortPath(path, dir string) string {
	if below, ok := strings.CutPrefix(path, strings.TrimRight(dir, `/\`)); ok && dir != "" && below != "" &&
		strings.ContainsRune(`/\`, rune(below[0])) {
		return below[1:]
	}
	elements := strings.Split(path, "/")
	if elements[0] != "" || len(elements) <= shownElements+1 {
		return path
	}
	return "…/" + strings.Join(elements[len(elements)-shownElements:], "/")
}

// toolInput is what the model gave a tool, each key by itself: other agents'
// tools may give a known name another type.
type toolInput map[string]json.RawMessage

func readInput(raw json.RawMessage) toolInput {
	var in toolInput
	if json.Unmarshal(raw, &in) != nil {
		return nil // no object: nothing in it that we know
	}
	return in
}

// first returns the first of the named inputs that is a text and not empty.
func (in toolInput) first(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(in[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// line is where a reading tool begins; 0 is not said.
func (in toolInput) line() int {
	var n int
	if json.Unmarshal(in["offset"], &n) != nil {
		return 0
	}
	return max(n, 0)
}

// OneLine makes a title of s: white space collapsed, at most MaxTitle runes.
func OneLine(s string) string { return stream.Line(s, MaxTitle) }
