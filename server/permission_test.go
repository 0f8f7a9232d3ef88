package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// permitted is a client with a plugin that asks its user what an agent waits to be told.
const permitted = `{"window":{"workDoneProgress":true},"experimental":{"ralph":{"version":2,"updates":true,"permissions":true}}}`

// asksElsewhere is another process that drives a loop, as far as others ask it for something.
type asksElsewhere struct {
	*loopstate.Lock
	owner loopstate.Owner
	now   loop.Status

	mu      sync.Mutex
	answers []string
}

// obey takes one answer to each question, and takes rules back.
func (a *asksElsewhere) obey(_ int, data json.RawMessage) any {
	var q struct {
		Do, ID, Text string
		Answer       ask.Answer
	}
	if err := json.Unmarshal(data, &q); err != nil {
		return map[string]string{"error": err.Error()}
	}
	if q.Do == "" { // a window: this program is of a version that has none
		return struct{}{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.Do == "disallow" {
		a.now.Allowed = slices.DeleteFunc(a.now.Allowed, func(rule string) bool { return rule == q.Text })
		return map[string]string{"error": loop.ErrText(a.stands())}
	}
	if slices.ContainsFunc(a.answers, func(other string) bool { return strings.Contains(other, `"id":"`+q.ID+`"`) }) {
		return map[string]string{"error": ask.ErrNoQuestion.Error(), "code": "no_question"}
	}
	for _, open := range a.now.Questions {
		if open.ID == q.ID && open.Takes(q.Answer) != nil {
			return map[string]string{"error": open.Takes(q.Answer).Error(), "code": "answer"}
		}
	}
	a.answers = append(a.answers, string(data))
	return struct{}{}
}

// asksIn makes the loop of another process in a folder, whose agent waits to be told things.
func asksIn(t *testing.T, dir string, questions ...ask.Question) *asksElsewhere {
	t.Helper()
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	a := &asksElsewhere{}
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), a.obey, nil)
	must.OK(t, err)
	t.Cleanup(server.Close)
	a.owner = loopstate.Owner{LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path}}
	a.now.Questions = questions
	if a.Lock, err = file.Lock(a.owner); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Release() })
	must.OK(t, a.stands())
	state := loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "x", AgentChoice: loopstate.AgentChoice{Backend: "claude"}, Begun: true}
	must.OK(t, file.Create(state))
	return a
}

// stands lets others see how the loop stands.
func (a *asksElsewhere) stands() error {
	a.owner.Status = lsptest.JSON(a.now)
	return a.SetOwner(a.owner)
}

// wantsTo is a command that an agent asks about.
func wantsTo(id, command string) ask.Question {
	return ask.Question{ID: id, Kind: ask.Permission, Tool: "Bash", Title: "Bash " + command, Detail: command, Rule: "Bash(" + command + ":*)", At: time.Now()}
}

// open makes these the questions that a loop's agent waits for.
func open(t *testing.T, a *asksElsewhere, questions ...ask.Question) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.Questions = questions
	must.OK(t, a.stands())
}

// answersIn waits for as many answers, and returns them.
func answersIn(t *testing.T, a *asksElsewhere, want int) (answers []string) {
	t.Helper()
	proctest.Until(t, fmt.Sprintf("%d answers", want), func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		answers = slices.Clone(a.answers)
		return len(answers) >= want
	})
	return answers
}

func permissionOf(t *testing.T, m lsptest.Message) (q wire.Question) {
	t.Helper()
	must.OK(t, json.Unmarshal(m.Params, &q))
	return q
}

// Requests are counted by method and a text that they have.
func heardOf(c *dialled, method, text string) (n int) {
	for _, m := range c.Heard() {
		if m.Method == method && strings.Contains(string(m.Params), text) {
			n++
		}
	}
	return n
}

func TestAClientIsAskedWhatAnAgentWaitsFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, want string }{
		"once":               {`{"answer":"once"}`, `"id":"q1","answer":{"kind":"once"`},
		"denied, with words": {`{"answer":"deny","text":"not that"}`, `"kind":"deny","text":"not that"`},
		"for the loop":       {`{"answer":"loop"}`, `"kind":"loop"`},
		"left open":          {`null`, ""},
		"of another type":    {`"yes"`, ""},
		"with a number":      {`{"answer":42}`, ""},
		"with no known word": {`{"answer":"maybe"}`, ""},
		"of another kind":    {`{"answer":"value","text":"x"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, permitted, dir)
			c.Answer(wire.MethodPermission, func(json.RawMessage) any { return json.RawMessage(tt.answer) })
			file := asksIn(t, dir, wantsTo("q1", "make"))
			q := permissionOf(t, c.Hears(wire.MethodPermission, "q1"))
			if q.LoopID != "ralph-1" || q.Folder != wire.FileURI(dir) || q.Text != "asks: Bash make" || len(q.Offers) != 3 {
				t.Errorf("asked %+v", q)
			}
			if tt.want != "" {
				if got := answersIn(t, file, 1); !strings.Contains(got[0], tt.want) {
					t.Errorf("got %s", got)
				}
				return
			}
			// It is still open: a command answers.
			c.status(dir, func(l wire.LoopStatus) bool { return len(l.Questions) == 1 && slices.Contains(l.Can, wire.CanAnswer) })
			c.Must(c.Command(wire.CommandAnswer, wire.AnswerParams{ID: "q1", Answer: ask.Once}))
			if got := answersIn(t, file, 1); len(got) != 1 || !strings.Contains(got[0], `"kind":"once"`) {
				t.Errorf("got %s", got)
			}
			if n := heardOf(c, wire.MethodPermission, "q1"); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestAQuestionThatWasAskedBeforeTheClientCame(t *testing.T) {
	dir := t.TempDir()
	asksIn(t, dir, wantsTo("q1", "make"), wantsTo("q2", "make test"))
	c := dial(t, permitted, dir)
	for _, id := range []string{"q1", "q2"} {
		c.Hears(wire.MethodPermission, id)
	}
	if l := c.status(dir, inState("waiting")); l.Text != "1/50 · asks: Bash make · 1 more question" || l.Class != wire.ClassWarning {
		t.Errorf("%s: %s", l.Class, l.Text)
	}
}

// Two editors are asked, and the first answer counts.
func TestWhatSomebodyElseAnsweredIsWithdrawn(t *testing.T) {
	dir := t.TempDir()
	file := asksIn(t, dir, wantsTo("q1", "make"))
	one, two := dial(t, permitted, dir), dial(t, permitted, dir)
	ids := map[*dialled]json.RawMessage{}
	for _, c := range []*dialled{one, two} {
		ids[c] = c.Hears(wire.MethodPermission, "q1").ID
	}
	two.Must(two.Command(wire.CommandAnswer, wire.AnswerParams{LoopParams: wire.LoopParams{LoopID: "ralph-1"}, ID: "q1", Answer: ask.Deny, Text: "no"}))
	refused := one.Command(wire.CommandAnswer, wire.AnswerParams{ID: "q1", Answer: ask.Once})
	if refused.Error == nil || !strings.Contains(string(refused.Error.Data), wire.ReasonNoQuestion) {
		t.Errorf("the second answer: %+v", refused)
	}
	if got := answersIn(t, file, 1); len(got) != 1 || !strings.Contains(got[0], `"kind":"deny"`) {
		t.Errorf("got %s", got)
	}
	open(t, file) // the loop's owner has taken it
	for c, id := range ids {
		if got := c.Hears("$/cancelRequest", ""); !strings.Contains(string(got.Params), string(id)) {
			t.Errorf("%s is withdrawn, not %s", got.Params, id)
		}
		c.status(dir, func(l wire.LoopStatus) bool { return len(l.Questions) == 0 && l.State == "running" })
	}
	if late := one.Command(wire.CommandAnswer, wire.AnswerParams{ID: "q1", Answer: ask.Once}); late.Error == nil || !strings.Contains(string(late.Error.Data), wire.ReasonNoQuestion) {
		t.Errorf("a late answer: %+v", late)
	}
}

func TestAnAnswerThatIsNone(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	asksIn(t, dir, ask.Question{ID: "q1", Kind: ask.Select, Title: "Which?", Options: []string{"A", "B"}})
	c.status(dir, inState("waiting"))
	for _, p := range []wire.AnswerParams{{Answer: "yes"}, {Answer: ask.Value, Text: "C"}, {Answer: ask.Once}} {
		if m := c.Command(wire.CommandAnswer, p); m.Error == nil || m.Error.Code != rpc.CodeInvalidParams || !strings.Contains(string(m.Error.Data), `"answer"`) {
			t.Errorf("%+v: %+v", p, m)
		}
	}
	var r wire.AnswerResult
	if err := json.Unmarshal(c.Must(c.Command(wire.CommandAnswer, wire.AnswerParams{Answer: ask.Value, Text: "B"})), &r); err != nil || r.Text != "answered: Which?: B" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAClientIsAskedAgain(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, permitted, dir)
	c.Answer(wire.MethodPermission, func(json.RawMessage) any { return nil })
	file := asksIn(t, dir, wantsTo("q1", "make"))
	c.Hears(wire.MethodPermission, "q1")
	c.Answer(wire.MethodPermission, func(json.RawMessage) any { return wire.PermissionResult{Answer: ask.Once} })
	c.Must(c.Command(wire.CommandAnswer, struct{}{}))
	if got := answersIn(t, file, 1); !strings.Contains(got[0], `"kind":"once"`) {
		t.Errorf("got %s", got)
	}
}

// A client without a plugin has buttons, and one question after the other.
func TestAPlainClientIsAskedOneQuestionAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, plain, dir)
	long := wantsTo("q1", "make")
	long.Detail = "make \\\n  everything"
	file := asksIn(t, dir, long, wantsTo("q2", "rm -rf build"))
	var p session.MessageParams
	if err := json.Unmarshal(c.Hears("window/showMessageRequest", "asks").Params, &p); err != nil || p.Message != "Ralph asks: Bash make\nmake \\\n  everything" || p.Type != session.MessageWarning || !slices.Equal(p.Actions, []session.MessageItem{{Title: "Deny"}, {Title: "Allow Once"}, {Title: "Allow Bash(make:*) in This Loop"}}) {
		t.Errorf("asked %+v, %v", p, err)
	}
	c.Must(c.Command(wire.CommandStatus, struct{}{})) // whatever else was asked at once is here by now
	if n := heardOf(c, "window/showMessageRequest", "rm -rf build"); n != 0 {
		t.Error("the second is asked before the first is answered")
	}
	c.Answer("window/showMessageRequest", func(json.RawMessage) any { return session.MessageItem{Title: "Deny"} })
	open(t, file, wantsTo("q2", "rm -rf build"))
	c.Hears("$/cancelRequest", "")
	c.Hears("window/showMessageRequest", "rm -rf build")
	if got := answersIn(t, file, 1); !strings.Contains(got[0], `"id":"q2","answer":{"kind":"deny"`) {
		t.Errorf("got %s", got)
	}
}

// Who can't be asked is told, once, and answers with a command.
func TestAClientThatCantBeAskedIsTold(t *testing.T) {
	for name, capabilities := range map[string]string{"plain": plain, "with a plugin that has promised too much": permitted} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, capabilities, dir)
			for _, method := range []string{wire.MethodPermission, "window/showMessageRequest"} {
				c.Answer(method, func(json.RawMessage) any { return &lsptest.Error{Code: rpc.CodeMethodNotFound} })
			}
			file := asksIn(t, dir, wantsTo("q1", "make"))
			c.Hears("window/showMessage", `Ralph asks: Bash make\n`+wire.HowToAnswer)
			c.Must(c.Command(wire.CommandAnswer, wire.AnswerParams{Answer: ask.ForLoop}))
			if got := answersIn(t, file, 1); !strings.Contains(got[0], `"kind":"loop"`) {
				t.Errorf("got %s", got)
			}
			open(t, file, wantsTo("q2", "rm -rf build"))
			c.Hears("window/showMessage", "rm -rf build")
			for _, method := range []string{wire.MethodPermission, "window/showMessageRequest"} {
				if n := heardOf(c, method, ""); n > 1 {
					t.Errorf("%s is tried %d times", method, n)
				}
			}
			if n := heardOf(c, "window/showMessage", "asks: Bash make"); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// A client that never answers holds nothing up, and a flood is one request each.
func TestAFloodOfQuestions(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, permitted, dir)
	var all []ask.Question
	for i := range ask.MaxQuestions {
		all = append(all, wantsTo(fmt.Sprintf("flood%02d.", i), "make"))
	}
	file := asksIn(t, dir, all...)
	for _, q := range all {
		c.Hears(wire.MethodPermission, q.ID)
	}
	open(t, file, all[1:]...)
	c.Hears("$/cancelRequest", "")
	c.status(dir, func(l wire.LoopStatus) bool { return len(l.Questions) == len(all)-1 })
	if n := heardOf(c, wire.MethodPermission, "flood"); n != len(all) {
		t.Errorf("asked %d times", n)
	}
	c.Must(c.Call("shutdown", nil))
	c.Notify("exit", nil)
	if code := <-c.exit; code != 0 {
		t.Errorf("exit code %d", code)
	} else {
		c.exit <- code
	}
}

// What is asked while the server shuts down is asked of nobody.
func TestNothingIsAskedDuringShutdown(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, permitted, dir)
	file := asksIn(t, dir)
	c.status(dir, inState("running"))
	c.Must(c.Call("shutdown", nil))
	open(t, file, wantsTo("q1", "make"))
	c.Notify("exit", nil)
	code := <-c.exit
	c.exit <- code
	if n := heardOf(c, wire.MethodPermission, ""); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// A folder that is closed asks nothing any more, and one that is opened again does.
func TestAFolderThatIsClosed(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	c := dial(t, permitted, dir, other)
	asksIn(t, dir, wantsTo("q1", "make"))
	id := c.Hears(wire.MethodPermission, "q1").ID
	change := func(added, removed []map[string]string) {
		c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": added, "removed": removed}})
	}
	it, none := []map[string]string{{"uri": wire.FileURI(dir), "name": "x"}}, []map[string]string{}
	change(none, it)
	if got := c.Hears("$/cancelRequest", ""); !strings.Contains(string(got.Params), string(id)) {
		t.Errorf("%s is withdrawn, not %s", got.Params, id)
	}
	change(it, none)
	c.Until("the question again", func(heard []lsptest.Message) bool {
		n := 0
		for _, m := range heard {
			if m.Method == wire.MethodPermission {
				n++
			}
		}
		return n == 2
	})
}

func TestWhatIsAllowedIsTakenBackElsewhere(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, permitted, dir)
	file := asksIn(t, dir)
	file.now.Allowed = []string{"Bash(make:*)", "Edit(src/*)"}
	open(t, file)
	l := c.status(dir, func(l wire.LoopStatus) bool { return len(l.Allowed) == 2 })
	offer := l.Allowed[0].Offers[0]
	var r wire.LoopResult
	if err := json.Unmarshal(c.Must(c.Command(offer.Command, offer.Arguments[0])), &r); err != nil || r.Text != "the agent asks again before: Bash(make:*)" {
		t.Errorf("%+v, %v", r, err)
	}
	c.status(dir, func(l wire.LoopStatus) bool { return len(l.Allowed) == 1 })
}
