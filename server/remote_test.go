package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// moon is a place with two loops: m1 does what it is told and asks q1, m2 has ended.
type moon struct {
	mu       sync.Mutex
	watcher  service.Watcher
	m1       wire.LoopStatus
	answered chan wire.AnswerParams
	told     int  // updates of m1
	deaf     bool // no answer reaches it
}

const moonFolder = "file:///moon/m1"

func newMoon() *moon {
	return &moon{answered: make(chan wire.AnswerParams, 9), m1: wire.LoopStatus{LoopID: "m1", Folder: moonFolder, Title: "crater", Host: "rover", State: "running", Summary: wire.Summary{Text: "1/9 · on rover"}, Live: true, Busy: true}}
}

func (m *moon) Run(ctx context.Context, w service.Watcher) {
	m.mu.Lock()
	m.watcher = w
	m.mu.Unlock()
	w.Changed()
	<-ctx.Done()
}

func (m *moon) Loops() ([]wire.LoopStatus, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return []wire.LoopStatus{{LoopID: "m2", Folder: "file:///moon/m2", Title: "dust", Host: "rover", State: "ended", Ending: wire.Ending{StopReason: "promise"}, Summary: wire.Summary{Text: "done"}}, m.m1}, "7 more aren't listed"
}

func (m *moon) Find(p wire.LoopParams) string {
	if (p.LoopID == "" || p.LoopID == "m1") && (p.Folder == "" || p.Folder == moonFolder) {
		return "m1"
	}
	return ""
}

// moonLoop is m1 for who commands it. What isn't here nobody wants of it.
type moonLoop struct {
	loop.Handle
	m    *moon
	said string
}

func (m *moon) Loop(context.Context, string) (service.RemoteLoop, error) { return &moonLoop{m: m}, nil }

func (l *moonLoop) Status() loop.Status {
	return loop.Status{LoopID: "m1", State: loop.StateRunning, Limits: loop.Limits{MaxIterations: 9}}
}

func (l *moonLoop) Result() wire.LoopResult {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return wire.LoopResult{LoopID: "m1", State: l.m.m1.State, Text: l.said}
}

func (l *moonLoop) does(what string) error {
	l.said = what
	return nil
}

func (l *moonLoop) Pause() error {
	l.m.mu.Lock()
	l.m.m1.State = "paused"
	l.m.mu.Unlock()
	return l.does("pause")
}

func (l *moonLoop) Cancel() error { return l.does("cancelled on the moon") }

func (l *moonLoop) Next() (int, error) {
	return 0, &wire.Failure{Reason: wire.ReasonBusAway, Err: errors.New("the bus is away")}
}

func (l *moonLoop) Detach() (int, error) { return 0, wire.Unable("m1", "it is alone there") }
func (l *moonLoop) IsLive() bool         { return true }

func (l *moonLoop) Resume(p loop.Patch) error  { return l.does("resumed with " + l.over(p)) }
func (l *moonLoop) Update(p loop.Patch) error  { return l.does("updated to " + l.over(p)) }
func (l *moonLoop) Disallow(rule string) error { return l.does("disallowed " + rule) }

// over is what bounds it with a patch.
func (l *moonLoop) over(p loop.Patch) string {
	limits, _ := p.Over(l.Status().Limits, "")
	return limits.Line("")
}

func (l *moonLoop) Steer(q loop.Steering) (string, error) {
	if q.Text == "fly" {
		return "", &wire.Failure{Key: "text", Err: errors.New("it has no wings")}
	}
	return "", l.does("it will be told: " + q.Text)
}

func (l *moonLoop) Answer(id string, a ask.Answer) error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.deaf {
		l.m.answered <- wire.AnswerParams{ID: id, Answer: a.Kind, Text: a.Text}
		return &wire.Failure{Reason: wire.ReasonBusAway, Err: errors.New("the moon is behind a cloud")}
	}
	if len(l.m.m1.Questions) == 0 || id != l.m.m1.Questions[0].ID {
		return ask.ErrNoQuestion
	}
	l.m.m1.Questions, l.m.m1.State = nil, "running"
	l.m.answered <- wire.AnswerParams{ID: id, Answer: a.Kind, Text: a.Text}
	return nil
}

// moonStory is what m1 has done.
type moonStory struct{}

func (m *moon) Story(string) service.RemoteStory { return moonStory{} }

func (moonStory) Read(_ context.Context, after string, _ journal.Options) (journal.Page, error) {
	return journal.Page{Cursor: "c" + after, Complete: true}, nil
}

func (moonStory) Outline(context.Context) (wire.Outline, error) {
	return wire.Outline{Cursor: "c9", Parts: []wire.LogPart{{Cursor: "c1", Iteration: 3, Bytes: 7}}}, nil
}

func (moonStory) Output(context.Context, int, string) (string, error) { return "one\ntwo\n", nil }

func (m *moon) Fetch(context.Context, string) (answers.FetchResult, error) {
	return answers.Fetched("ralph/crater"), nil
}

func (m *moon) Check(context.Context) answers.Check {
	return answers.Check{ID: "moon", OK: true, Message: "the moon is up"}
}

func (m *moon) Snapshots(context.Context, string) (*changes.Store, string, error) {
	return nil, "", changes.ErrNone
}

// ask lets m1 ask something.
func (m *moon) ask(id string) {
	q := wire.QuestionOf(ask.Question{ID: id, Kind: ask.Permission, Tool: "Bash", Title: "Bash dig"}, "m1", "/moon/m1")
	m.mu.Lock()
	m.m1.State, m.m1.Questions = "waiting", []wire.Question{q}
	m.mu.Unlock()
	m.watcher.Changed()
}

func TestTheDoctorLooksAtOtherPlaces(t *testing.T) {
	_, c := seesMoon(t, optedIn)
	found := result[answers.DoctorResult](c, c.Command(wire.CommandDoctor, struct{}{})).Checks
	if !slices.ContainsFunc(found, func(c answers.Check) bool { return c.ID == "moon" && c.OK && c.Message == "the moon is up" }) {
		t.Errorf("found %+v", found)
	}
}

// say sends a text and a tool of m1.
func (m *moon) say(t *testing.T, text string) {
	t.Helper()
	after := fmt.Sprint("c", m.told)
	m.told += 2
	page := journal.Page{Cursor: fmt.Sprint("c", m.told), Items: []journal.Item{
		{Text: true, Iteration: 3, JSON: lsptest.JSON(wire.Chunk{SessionUpdate: wire.KindMessageChunk, Content: wire.TextContent{Type: "text", Text: text}})},
		{Iteration: 3, JSON: lsptest.JSON(wire.ToolCall{SessionUpdate: wire.KindToolCall, Name: "dig", Title: text})},
	}}
	if err := m.watcher.Tell(t.Context(), "m1", after, page); err != nil {
		t.Error(err)
	}
}

// seesMoon dials a server with a moon, and waits until its loops are known.
func seesMoon(t *testing.T, capabilities string, folders ...string) (*moon, *dialled) {
	m := newMoon()
	c := dialWith(t, Options{Remote: m}, capabilities, folders...)
	for statuses := (wire.StatusResult{}); len(statuses.Loops) < 2; {
		statuses = result[wire.StatusResult](c, c.Command(wire.CommandStatus, map[string]any{}))
	}
	return m, c
}

// The conversations are had with the moon's loops in view.
func TestConversationsAboutLoopsElsewhere(t *testing.T) {
	for _, c := range lsptest.ReadConversations(t, "testdata/remote/*.txt") {
		t.Run(c.Title, func(t *testing.T) {
			t.Parallel()
			startInside(t, Options{Remote: newMoon()}).Play(c.Steps)
		})
	}
}

// What can't be done there says so: no command is carried out in a folder here instead.
func TestEveryCommandKnowsOtherPlaces(t *testing.T) {
	const refused = `"elsewhere"`
	knows := map[string][2]string{ // what is said beside the loop's id, and what comes of it
		wire.CommandCancel: {"", `"text":"cancelled on the moon"`}, wire.CommandPause: {"", `"state":"paused"`}, wire.CommandNext: {"", "bus_away"},
		wire.CommandResume: {`,"maxIterations":7`, "resumed with 7 iterations"}, wire.CommandUpdate: {`,"text":"+2"`, "updated to 11 iterations"},
		wire.CommandSteer: {`,"text":"dig"`, "it will be told: dig"}, wire.CommandAnswer: {`,"answer":"once"`, "no_question"},
		wire.CommandRead: {`,"after":"7"`, `"cursor":"c7"`}, wire.CommandOutline: {"", `"cursor":"c9"`}, wire.CommandOutput: {`,"toolCallId":"t1"`, `"lines":2`},
		wire.CommandFetch: {"", "ralph/crater"}, wire.CommandChanges: {"", "no_snapshots"}, wire.CommandFile: {`,"path":"a"`, "no_snapshots"},
		wire.CommandDetach: {"", refused}, wire.CommandOpen: {"", refused}, wire.CommandUndo: {`,"iteration":1`, refused}, wire.CommandRedo: {"", refused},
		wire.CommandKeep: {"", refused}, wire.CommandLand: {"", refused}, wire.CommandStart: {`,"prompt":"Dig"`, refused},
	}
	ofNone := []string{wire.CommandStatus, wire.CommandHelp, wire.CommandDoctor, wire.CommandAgents, wire.CommandHats, wire.CommandSandbox, wire.CommandPlan, wire.CommandMark, wire.CommandHistory, wire.CommandPrompts, wire.CommandTool}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	_, c := seesMoon(t, optedIn)
	m, _ := askedManager(t, t.TempDir())
	for name, known := range m.commands {
		tt, isKnown := knows[name]
		about := `{"loopId":"m1"` + tt[0] + "}"
		if _, err := known.read([]byte(about)); err != nil { // it names a folder alone
			about = `{"folder":"` + moonFolder + `"` + tt[0] + "}"
		}
		if !isKnown {
			if !slices.Contains(ofNone, name) {
				t.Errorf("what becomes of %s about a loop of another place?", name)
			}
			continue
		}
		if got := string(lsptest.JSON(c.Command(name, json.RawMessage(about)))); !strings.Contains(got, tt[1]) {
			t.Errorf("%s %s: %s, not %s", name, about, got, tt[1])
		}
	}
	for about, want := range map[string]string{`"when":"afterIteration"`: "it is cancelled at once", `"when":"left"`: "it is cancelled at once", `"when":"now"`: "cancelled on the moon"} {
		if got := string(lsptest.JSON(c.Command(wire.CommandCancel, json.RawMessage(`{"loopId":"m1",`+about+`}`)))); !strings.Contains(got, want) {
			t.Errorf("cancelled %s: %s, not %s", about, got, want)
		}
	}
	if got := string(lsptest.JSON(c.Command(wire.CommandResume, json.RawMessage(`{"loopId":"m1","backend":"pi"}`)))); !strings.Contains(got, wire.AsSubmitted) {
		t.Errorf("with another agent: %s", got)
	}
}

func TestOneOfSeveralQuestionsFromElsewhereIsAskedAgain(t *testing.T) {
	m, c := seesMoon(t, permitted)
	var all []wire.Question
	for _, title := range []string{"dig", "fill"} {
		all = append(all, wire.QuestionOf(ask.Question{ID: "q-" + title, Kind: ask.Permission, Tool: "Bash", Title: "Bash " + title}, "m1", "/moon/m1"))
	}
	m.mu.Lock()
	m.m1.State, m.m1.Questions = "waiting", all
	m.mu.Unlock()
	m.watcher.Changed()
	c.Hears(wire.MethodPermission, "q-fill")
	answer := wire.AnswerParams{LoopParams: wire.LoopParams{LoopID: "m1"}, ID: "q-fill"}
	if again := result[wire.AnswerResult](c, c.Command(wire.CommandAnswer, answer)); again.Text != "asks: Bash fill" {
		t.Errorf("asked again: %+v", again)
	}
	answer.ID = "q-other"
	if got := reason(t, c.Command(wire.CommandAnswer, answer)); got != wire.ReasonNoQuestion {
		t.Errorf("one that isn't open: %s", got)
	}
}

func TestAQuestionFromElsewhereIsWithdrawn(t *testing.T) {
	m, c := seesMoon(t, permitted)
	m.ask("q1")
	c.Hears(wire.MethodPermission, "q1")
	if again := result[wire.AnswerResult](c, c.Command(wire.CommandAnswer, wire.AnswerParams{LoopParams: wire.LoopParams{LoopID: "m1"}})); again.Text != "asks: Bash dig" {
		t.Errorf("asked again: %+v", again)
	}
	c.Hears("$/cancelRequest", "")
	m.ask("q2")
	c.Hears(wire.MethodPermission, "q2")
	c.Until("withdrawal", func(heard []lsptest.Message) bool {
		n := 0
		for _, h := range heard {
			if h.Method == "$/cancelRequest" {
				n++
			}
		}
		return n == 2
	})
}

// Who has answered learns that it was for nothing: the agent waits on.
func TestAnAnswerThatDoesNotReachTheAgentIsTold(t *testing.T) {
	m, c := seesMoon(t, permitted)
	c.Answer(wire.MethodPermission, func(json.RawMessage) any { return json.RawMessage(`{"answer":"once"}`) })
	m.mu.Lock()
	m.deaf = true
	m.mu.Unlock()
	m.ask("q1")
	take(t, m.answered)
	c.Hears("window/showMessage", `Ralph \"crater\": the answer didn't reach the agent: the moon is behind a cloud`)
}

// A client without a plugin is asked with words and buttons.
func TestAPlainClientIsAskedFromElsewhere(t *testing.T) {
	m, c := seesMoon(t, plain)
	c.Answer("window/showMessageRequest", func(params json.RawMessage) any {
		if !strings.Contains(string(params), `Ralph \"crater\" asks: Bash dig`) {
			t.Errorf("asked %s", params)
		}
		return session.MessageItem{Title: "Allow Once"}
	})
	m.ask("q1")
	if a := take(t, m.answered); a.Answer != ask.Once {
		t.Errorf("answered %+v", a)
	}
}

func TestUpdatesFromElsewhereObeyTheLevel(t *testing.T) {
	m, c := seesMoon(t, optedIn)
	m.say(t, "whole")
	u := c.Hears(wire.MethodUpdate, "whole")
	if text := string(u.Params); !strings.Contains(text, `"after":"c0"`) || !strings.Contains(text, `"cursor":"c2"`) || !strings.Contains(text, `"loopId":"m1"`) || !strings.Contains(text, `"iteration":3`) {
		t.Errorf("heard %s", text)
	}
	level := func(level string, wants bool) {
		t.Helper()
		c.Notify(wire.MethodSetUpdates, wire.SetUpdatesParams{Level: level})
		result[wire.StatusResult](c, c.Command(wire.CommandStatus, map[string]any{})) // it was heard
		if got := m.watcher.Wants(); got != wants {
			t.Errorf("at %s wants %v", level, got)
		}
	}
	level(wire.LevelTools, true)
	m.say(t, "tools")
	if text := string(c.Hears(wire.MethodUpdate, "tools").Params); strings.Contains(text, wire.KindMessageChunk) {
		t.Errorf("heard %s", text)
	}
	level(wire.LevelNone, false)
	m.say(t, "none")
	level(wire.LevelAll, true)
	m.say(t, "all")
	c.Hears(wire.MethodUpdate, "all")
	if n := heardOf(c, wire.MethodUpdate, "none"); n > 0 {
		t.Error("heard what it didn't want")
	}
}

func TestLoopsElsewhereStandBesideOurs(t *testing.T) {
	dir := t.TempDir()
	asksIn(t, dir)
	_, c := seesMoon(t, optedIn, dir)
	var status json.RawMessage
	c.Until("a status of all", func(heard []lsptest.Message) bool {
		for _, m := range heard {
			status = m.Params
			if text := string(status); m.Method == wire.MethodStatus && strings.Contains(text, `"ralph-1"`) && strings.Contains(text, `"m1"`) {
				return true
			}
		}
		return false
	})
	for _, want := range []string{`"busy":true`, `"loopId":"m1"`, `"host":"rover"`, `"text":"7 more aren't listed"`} {
		if !strings.Contains(string(status), want) {
			t.Errorf("%s isn't in %s", want, status)
		}
	}
	var p wire.StatusParams
	if err := json.Unmarshal(status, &p); err != nil || len(p.Loops) != 3 || p.Loops[2].LoopID != "m2" {
		t.Errorf("%v, %+v", err, p.Loops)
	}
}

func TestAStatusIsAskedForByTheFolderOfALoopElsewhere(t *testing.T) {
	_, c := seesMoon(t, optedIn)
	got := result[wire.StatusResult](c, c.Command(wire.CommandStatus, wire.FolderParams{Folder: moonFolder}))
	if len(got.Loops) != 1 || got.Loops[0].LoopID != "m1" {
		t.Errorf("got %+v", got)
	}
	if text := wire.NewStatus(got.Loops).Message; text != "Ralph 1/9 · on rover" {
		t.Errorf("the status bar says %q", text)
	}
}
