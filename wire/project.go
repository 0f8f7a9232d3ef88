package wire

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
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

// Event returns the update for an agent's event, or nil when there is none:
// a message's end was in its chunks, and a run's end comes as IterationEnd.
func (p *Projector) Event(e stream.Event) Update {
	switch e := e.(type) {
	case stream.SessionStart:
		return SessionUpdate{KindSession, sanitized(e), saidOfSession(e)}
	case stream.Text:
		return chunk(KindMessageChunk, e.Delta, e.MessageID, e.ParentToolCallID)
	case stream.Thinking:
		return chunk(KindThoughtChunk, e.Delta, e.MessageID, e.ParentToolCallID)
	case stream.MessageEnd:
		if e.Discarded {
			return Discard{KindDiscard, e.MessageID, e.ParentToolCallID, Said{Text: DiscardText, Class: ClassWarning}}
		}
	case stream.ToolCall:
		if len(p.calls) == maxCalls {
			p.calls = slices.Delete(p.calls, 0, 1)
		}
		p.calls = append(p.calls, outputUpdate(e.ID, e.ParentToolCallID, StatusFailed, history.InterruptedText))
		return ToolCallOf(e)
	case stream.ToolProgress:
		return outputUpdate(e.ID, "", StatusInProgress, e.Output)
	case stream.ToolResult:
		status := StatusCompleted
		if e.IsError {
			status = StatusFailed
		}
		p.calls = slices.DeleteFunc(p.calls, func(c ToolCallUpdate) bool { return c.ToolCallID == e.ID })
		end := outputUpdate(e.ID, e.ParentToolCallID, status, e.Output)
		end.Spent, end.Facts = e.Spent, SpentText(e.Spent)
		return end
	case stream.Usage:
		return p.projectUsage(e)
	case stream.Retry:
		return Retry{KindRetry, sanitized(e), Said{Text: RetryText(e), Class: ClassWarning}}
	case stream.Compaction:
		return Compaction{KindCompaction, sanitized(e), Info(CompactionText(e))}
	case stream.Error:
		return ErrorUpdate{KindError, stream.Plain(e.Message), e.Kind.Retryable(), string(e.Kind),
			Said{Text: Sentence(e.Message), Class: ClassError}}
	}
	return nil
}

// Unfinished returns the updates that come before a loop's event: the ends of the tool calls that a run left open
// when it ended. The session file has the same.
func (p *Projector) Unfinished(e loop.Event) []Update {
	if _, ok := e.(loop.IterationEnd); !ok {
		return nil
	}
	var ends []Update
	for _, end := range p.calls {
		ends = append(ends, end)
	}
	p.calls = nil
	return ends
}

// Loop returns the update for one of the loop's own events, after the updates of Unfinished.
func (p *Projector) Loop(e loop.Event) Update {
	switch e := e.(type) {
	case loop.StateChanged:
		return StateChange{KindState, sanitized(e), saidOf(e)}
	case loop.IterationStart:
		if e.Spent.Known { // of a loop that goes on we saw only a part
			p.Spent = CostOf(e.Spent)
		}
		return Iteration{KindIteration, PhaseBegin, sanitized(e), JoinFacts(ofMax(e), HatText(e), OneLine(e.Task)), Info(IterationText(e))}
	case loop.IterationEnd:
		p.Spent = p.Spent.Plus(CostOf(e.Cost))
		facts := IterationEndText(e)
		said := Said{Text: JoinFacts(Sentence(e.Hat), facts), Class: classOf(e.Outcome)}
		return IterationEnd{KindIteration, PhaseEnd, sanitized(e), facts, said}
	case loop.Goal:
		return Goal{KindGoal, sanitized(e), Said{Text: GoalText(e), Class: ClassInfo, Notify: e != (loop.Goal{})}}
	case loop.Verify:
		return Verify{KindVerify, sanitized(e), saidOfCheck(e)}
	case loop.NearMiss:
		return Promise{KindPromise, false, sanitized(e), Said{NearMissText(e), ClassWarning, true, OffersOf(e.Offer)}}
	case loop.Guidance:
		return Guidance{KindGuidance, sanitized(e), Info(GuidanceText(e))}
	case loop.Asked:
		q := projectQuestion(e.Question)
		q.SessionUpdate = KindQuestion
		return q
	case loop.Answered:
		return Answered{KindAnswer, sanitized(e), saidOfAnswer(e)}
	case loop.Published:
		return Topic{KindTopic, sanitized(stream.Topic(e)), Info(TopicText(stream.Topic(e)))}
	case loop.Told:
		return UserChunk{SessionUpdate: KindUserChunk, Content: TextContent{"text", stream.Plain(e.Text)}}
	case loop.Warning:
		return Warning{KindWarning, sanitized(e), Said{Sentence(withoutDocs(e.Message)), classOfWarning(e), true, OffersOf(e.Offer)}}
	case loop.LimitsChanged:
		return Limits{KindLimits, GivenOf(e.Limits.Given(), stream.Plain(e.Promise)), Info(LimitsText(e))}
	case loop.End:
		return projectEnd(e)
	}
	return nil
}

// ResultOf returns the end of a recorded stream.
func ResultOf(r stream.Result) RecordedEnd {
	end := loop.IterationEnd{
		Iteration: 1, Outcome: loop.OutcomeOK, Cost: r.Usage.Cost, Turns: r.Turns, ToolCalls: r.ToolCalls, Skipped: r.SkippedLines,
	}
	if f := r.Failure; f != nil {
		end.Outcome, end.Error = loop.OutcomeError, f.Message
		if f.Kind == stream.KindAborted {
			end.Outcome = loop.OutcomeCancelled
		}
	}
	return RecordedEnd{
		SessionUpdate: KindIteration, Phase: PhaseEnd, IterationEnd: sanitized(end),
		Tokens: history.TokensOf(r.Usage.Tokens), LastMessage: stream.Plain(r.Text), Skipped: r.SkippedLines,
		Said: Said{Class: classOf(end.Outcome), Text: IterationEndText(end)},
	}
}

// StatusOf returns the wire's form of a loop's status. Owned says that
// this process drives the loop.
func StatusOf(s loop.Status, owned bool) LoopStatus {
	out := LoopStatus{
		LoopID: s.LoopID, Folder: FileURI(s.Folder), Worktree: worktreeOf(s.Worktree), State: string(s.State),
		Iteration: s.Iteration, MaxIterations: s.Limits.MaxIterations, Tasks: TasksOf(s),
		Condition: conditionOf(s), Times: sanitized(s.Times), SilentSince: history.TimeOf(s.SilentSince()), Hat: stream.Plain(s.Hat),
		Usage: usageOf(s), Work: workOf(s), Owned: owned,
		Ending: Ending{StopReason: string(s.StopReason), Error: stream.Plain(s.Error), EndedAt: history.TimeOf(s.EndedAt)},
	}
	if s.Sandbox != "" {
		out.Sandbox = &Sandbox{sandboxed, stream.Plain(s.Sandbox)}
	}
	if b := s.Session; b.Backend != "" {
		out.Backend = &BackendInfo{stream.Plain(b.Backend), stream.Plain(b.Version), stream.Plain(b.Provider), stream.Plain(b.Model)}
	}
	out.StateFileURI, out.SessionFileURI = FileURI(s.StateFile), SessionURI(s)
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
		w.Retry = &RetryStatus{sanitized(*r), stream.Plain(loop.WaitText(r.Reason))}
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
			l.CostText += " of " + tell.USD(s.Limits.MaxCostUSD)
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
	return stream.Plain(cmp.Or(s.Title, filepath.Base(s.Folder)))
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
			l.Title += " (" + stream.Plain(place) + ")"
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

// FileURI returns the file URI of an absolute path; "" of none.
func FileURI(path string) string {
	if path == "" {
		return ""
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/Users
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

func chunk(kind, delta, messageID, parent string) Chunk {
	return Chunk{kind, messageID, parent, TextContent{"text", stream.Plain(delta)}}
}

// outputUpdate is a tool's output, cut to what an update has room for.
func outputUpdate(id, parent, status, output string) ToolCallUpdate {
	u := ToolCallUpdate{SessionUpdate: KindToolCallUpdate, ToolCallID: id, ParentToolCallID: parent, Status: status}
	if output == "" {
		return u
	}
	excerpt, lines, bytes := tell.Excerpt(output, MaxText) // before it is looked at any closer
	u.Content = []ToolContent{{"content", TextContent{"text", stream.Plain(excerpt)}}}
	if bytes > 0 {
		u.Omitted = &Omitted{lines, bytes}
	}
	return u
}

// projectUsage adds the run's cost to what earlier iterations cost; nil when
// the update would say nothing new.
func (p *Projector) projectUsage(e stream.Usage) Update {
	u := UsageUpdate{SessionUpdate: KindUsage, Used: e.Context, Size: e.ContextSize}
	if cost := CostOf(p.Spent.Plus(CostOf(e.Cost))); cost.Known {
		u.Cost = &Money{cost.USD, "USD"}
	}
	same := u.Used == p.Usage.Used && u.Size == p.Usage.Size && equal(u.Cost, p.Usage.Cost)
	if same {
		return nil
	}
	p.Usage = u
	return u
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func projectEnd(e loop.End) End {
	said := Said{Text: EndText(e), Class: e.Reason.Ending().Class, Notify: true, Offers: OffersAfter(e.Status)}
	end := End{KindEnd, e, accountRows(e), said}
	end.Prompt, end.Account = "", account.Account{}
	end.End = sanitized(end.End)
	for i := range end.Denials {
		end.Denials[i].ID = ""
	}
	if e.Status.Folder != "" {
		end.Title = titleOf(e.Status)
	}
	return end
}

// share returns n, and 0 for infinity and NaN, which JSON can't write.
func share(n float64) float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
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
		Name: stream.Plain(e.Name), Title: stream.Plain(e.Name), Kind: kinds[e.Name], Status: StatusInProgress, RawInput: e.Input,
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
