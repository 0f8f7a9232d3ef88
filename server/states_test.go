package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

// exampleStates has one loop in each of its states. The editors' tests walk it too.
func exampleStates() []LoopStatus {
	examples := []LoopStatus{
		{State: string(loop.StateStarting)}, {State: string(loop.StateRunning)}, {State: string(loop.StatePaused)},
		{State: string(loop.StateCancelling)}, {State: string(loop.StateInterrupted)},
		{State: string(loop.StateWaiting), Retry: &RetryStatus{Attempt: 2, Reason: "rate_limit"}},
		{State: string(loop.StateFailed), StopReason: string(loop.StopFailures), Error: "500 overloaded", EndedAt: noon},
		{State: string(loop.StateEnded), StopReason: string(loop.StopMaxCost), EndedAt: noon},
	}
	for i := range examples {
		l := &examples[i]
		l.LoopID, l.Folder = "ralph-"+l.State, "file:///w/"+l.State
		l.Iteration, l.MaxIterations, l.Owned = 3, 50, !isLeft(*l)
		l.Text = textOf(*l)
	}
	return examples
}

// TestEveryStateIsKnownEverywhere names the places that have forgotten a state.
func TestEveryStateIsKnownEverywhere(t *testing.T) {
	document, err := os.ReadFile("../docs/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`"state":"([a-z|]+)"`).FindSubmatch(document)
	if listed == nil {
		t.Fatal("docs/PROTOCOL.md lists no states")
	}
	all := constants(t, "../loop", "State")
	for _, state := range all {
		forgot := func(where string) { t.Errorf("%s has forgotten the state %q", where, state) }
		if _, ok := states[loop.State(state)]; !ok {
			forgot("server/states.go")
		}
		if !slices.Contains(strings.Split(string(listed[1]), "|"), state) {
			forgot("docs/PROTOCOL.md")
		}
		at := slices.IndexFunc(exampleStates(), func(l LoopStatus) bool { return l.State == state })
		if at < 0 {
			forgot("exampleStates")
			continue
		}
		l := exampleStates()[at]
		if doing(l) == "" && state != string(loop.StateRunning) {
			forgot("what a loop is doing")
		}
		if textOf(l) == "" || newStatus([]LoopStatus{l}).Message == "Ralph" {
			forgot("the line of the status")
		}
		d := withDoc(promptURI, "Build X", false, &docWorld{status: &l})
		var titles []string
		for _, lens := range d.lenses(d.get(promptURI)) {
			titles = append(titles, lens.Command.Title)
		}
		if isOver := loop.State(state).Over(); isOver && !isLeft(l) != slices.Contains(titles, "Run Ralph loop") || len(titles) == 0 {
			forgot("the lens")
		}
		if isLive(l) == loop.State(state).Over() {
			forgot("loop.State.Over, or the live states")
		}
	}
	if len(states) != len(all)+1 { // and idle
		t.Errorf("server/states.go has %d states, the loop %d", len(states), len(all))
	}
}

func TestALoopThatFailedStaysFailed(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "fails")
	isFailed := func(l LoopStatus) bool {
		return l.State == "failed" && l.StopReason == "failures" && l.Iteration == 2 && l.Error == "the agent exited with code 3" &&
			l.Text == "failed at 2/50: too many failures in a row" && time.Since(l.EndedAt) < time.Minute
	}
	c.Must(c.Command(CommandStart, StartParams{Text: "fail --max-failures 2", Choices: Choices{Backend: agent}}))
	c.Hears("ralph/update", `"sessionUpdate":"_ralph/state","state":"failed"`)
	c.Hears("ralph/update", `"_ralph/end"`)
	second := dial(t, optedIn, dir)
	for name, ed := range map[string]*client{"its editor": c, "a second one": second} {
		if got := ed.status(dir, func(l LoopStatus) bool {
			return l.State != "running" && l.State != "waiting" && l.State != "starting" && !l.Owned
		}); !isFailed(got) {
			t.Errorf("%s is told %+v", name, got)
		}
	}
	for _, heard := range c.Heard() {
		if heard.Method == MethodStatus && (strings.Contains(string(heard.Params), "interrupted") || strings.Contains(string(heard.Params), `"state":"ended"`)) {
			t.Errorf("it was told %s", heard.Params)
		}
	}
	refused := second.Command(CommandStart, StartParams{Prompt: "y", Choices: Choices{Backend: agent}})
	data := dataOf[struct{ Reason, StopReason, Question string }](t, refused)
	if data.Reason != ReasonInterrupted || data.StopReason != "failures" ||
		data.Question != "A Ralph loop failed here at iteration 2/50: too many failures in a row. Discard it to start the new task?" {
		t.Errorf("got %+v", data)
	}
	resumed := result[LoopResult](second, second.Command(CommandResume, ResumeParams{LimitParams: LimitParams{MaxIterations: new(3)}}))
	if resumed.Iteration != 3 {
		t.Errorf("it goes on at %d", resumed.Iteration)
	}
	if got := second.status(dir, func(l LoopStatus) bool { return l.Iteration == 3 && !isLive(l) }); got.State != "ended" || got.StopReason != "max_iterations" {
		t.Errorf("then it is %+v", got)
	}
}

func TestADiscardedLoopHasEnded(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(CommandStart, StartParams{Text: "fail --max-failures 1", Choices: Choices{Backend: agentThat(t, "fails")}}))
	c.status(dir, inState("failed"))
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(loopstate.Name))); err != nil {
		t.Fatal(err)
	}
	if got := c.status(dir, inState("ended")); got.StopReason != "failures" || !got.Owned {
		t.Errorf("got %+v", got)
	}
}

func TestAPlainClientIsAskedAboutAFailedLoop(t *testing.T) {
	dir := t.TempDir()
	m, ed := askedManager(t, dir)
	if _, err := m.start(t.Context(), StartParams{Text: "x --max-failures 1", Choices: Choices{Backend: agentThat(t, "fails")}}); err != nil {
		t.Fatal(err)
	}
	want := "A Ralph loop failed in " + filepath.Base(dir) + " at iteration 1/50: too many failures in a row. The last failure: the agent exited with code 3. Go on with it?"
	if got := take(t, ed.asked); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	file, err := loopstate.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := file.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ed.answers <- actionDiscard
	for {
		if _, err := file.Load(); errors.Is(err, fs.ErrNotExist) {
			break
		}
		take(t, changes)
	}
	if shown, _ := received[messageParams](&ed.feedEditor, "window/showMessage"); len(shown) != 0 {
		t.Errorf("and it was told %+v", shown)
	}
}
