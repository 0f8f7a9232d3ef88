package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestALoopThatFailedStaysFailed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "fails")
	isFailed := func(l wire.LoopStatus) bool {
		return l.State == "failed" && l.StopReason == "failures" && l.Iteration == 2 && l.Error == "the agent exited with code 3" &&
			l.Text == "failed at 2/50: too many failures in a row" && time.Since(l.EndedAt) < time.Minute
	}
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "fail --max-failures 2", Choices: wire.Choices{Backend: agent}}))
	c.Hears("ralph/update", `"sessionUpdate":"_ralph/state","state":"failed"`)
	c.Hears("ralph/update", `"_ralph/end"`)
	second := dial(t, optedIn, dir)
	for name, ed := range map[string]*dialled{"its editor": c, "a second one": second} {
		if got := ed.status(dir, func(l wire.LoopStatus) bool {
			return l.State != "running" && l.State != "waiting" && l.State != "starting" && !l.Owned
		}); !isFailed(got) {
			t.Errorf("%s is told %+v", name, got)
		}
	}
	for _, heard := range c.Heard() {
		if heard.Method == wire.MethodStatus && (strings.Contains(string(heard.Params), "interrupted") || strings.Contains(string(heard.Params), `"state":"ended"`)) {
			t.Errorf("it was told %s", heard.Params)
		}
	}
	refused := second.Command(wire.CommandStart, wire.StartParams{Prompt: "y", Choices: wire.Choices{Backend: agent}})
	data := dataOf[struct{ Reason, StopReason, Question string }](t, refused)
	if data.Reason != wire.ReasonInterrupted || data.StopReason != "failures" ||
		data.Question != "A Ralph loop failed here at iteration 2/50: too many failures in a row. Discard it to start the new task?" {
		t.Errorf("got %+v", data)
	}
	resumed := result[wire.LoopResult](second, second.Command(wire.CommandResume, wire.ResumeParams{Values: settings.Values{Given: limits.Given{MaxIterations: new(3)}}}))
	if resumed.Iteration != 3 {
		t.Errorf("it goes on at %d", resumed.Iteration)
	}
	if got := second.status(dir, func(l wire.LoopStatus) bool { return l.Iteration == 3 && !l.Live }); got.State != "ended" || got.StopReason != "max_iterations" {
		t.Errorf("then it is %+v", got)
	}
}

func TestADiscardedLoopHasEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "fail --max-failures 1", Choices: wire.Choices{Backend: agentThat(t, "fails")}}))
	c.status(dir, inState("failed"))
	must.OK(t, os.Remove(filepath.Join(dir, filepath.FromSlash(loopstate.Name))))
	if got := c.status(dir, inState("ended")); got.StopReason != "failures" || !got.Owned {
		t.Errorf("got %+v", got)
	}
}

func TestAPlainClientIsAskedAboutAFailedLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, ed := askedManager(t, dir)
	must.OK(t, must.Err(m.starter.start(t.Context(), wire.StartParams{Text: "x --max-failures 1", Choices: wire.Choices{Backend: agentThat(t, "fails")}})))
	want := "A Ralph loop failed in " + filepath.Base(dir) + " at iteration 1/50: too many failures in a row. The last failure: the agent exited with code 3. Go on with it?"
	if got := take(t, ed.asked); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	changes, err := file.Watch(t.Context())
	must.OK(t, err)
	ed.answers <- "Discard"
	for {
		if _, err := file.Load(); errors.Is(err, fs.ErrNotExist) {
			break
		}
		take(t, changes)
	}
	if shown, _ := clienttest.Received[session.MessageParams](&ed.Editor, "window/showMessage"); len(shown) > 1 || len(shown) == 1 && !strings.Contains(shown[0].Message, "is discarded") {
		t.Errorf("and it was told %+v", shown)
	}
}
