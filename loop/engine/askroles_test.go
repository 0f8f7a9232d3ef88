package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// asksIn is what a run does whose agent asks about a command and waits: what it was told stands in got.
func asksIn(r **rig, n int, command string, got *[]backends.Answer, meanwhile func(ask.Question)) func() {
	return func() {
		told := make(chan backends.Answer, 1)
		(*r).agents.specs[n].Ask(wants("1", "Bash", `{"command":"`+command+`"}`), func(a backends.Answer) bool { told <- a; return true })
		if len(told) == 0 && meanwhile != nil {
			meanwhile((*r).open(0))
		}
		select {
		case a := <-told:
			*got = append(*got, a)
		case <-time.After(48 * time.Hour): // of a question that is moot
		}
	}
}

// Every hat asks, under the rules of the one loop.
func TestEachHatAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		var got []backends.Answer
		answers := func(kind, text string) func(ask.Question) {
			return func(q ask.Question) {
				if now := r.Status(); q.Agent != "" || now.State != loop.StateWaiting {
					t.Errorf("%q asks, the loop is %s", q.Agent, now.State)
				}
				if err := r.Answer(q.ID, ask.Answer{Kind: kind, Text: text}); err != nil {
					t.Error(err)
				}
			}
		}
		plans, builds, reviews, done := publishes("plan.ready"), publishes("build.done"), publishes("review.rejected"), promise
		plans.during = asksIn(&r, 0, "git commit -m plan", &got, answers(ask.ForLoop, ""))
		builds.during = asksIn(&r, 1, "git commit -m build", &got, func(q ask.Question) { t.Errorf("the builder asks: %+v", q) })
		reviews.during = asksIn(&r, 2, "git push", &got, answers(ask.Deny, "not yet"))
		done.during = asksIn(&r, 3, "git push", &got, answers(ask.Once, ""))
		r = prepare(t, nil, func(c *setup.Config) { team(c); c.Asking.On = true; c.Roles.Hats[1].MayFinish = new(true) }, plans, builds,
			reviews, done)
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 4)
		if want := []backends.Answer{{Yes: true}, {Yes: true}, {Text: "not yet"}, {Yes: true}}; !slices.Equal(got, want) {
			t.Errorf("they were told %+v", got)
		}
		if r.log.count("asked ") != 3 {
			t.Errorf("%q", r.log.lines)
		}
	})
}

// A reviewer asks by its name, and has all of its own time besides that of the user.
func TestAReviewerAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		var got []backends.Answer
		reviews := approves
		reviews.lasts = 9 * time.Minute
		reviews.during = asksIn(&r, 1, "go test ./...", &got, func(q ask.Question) {
			if now := r.Status(); q.Agent != "critic" || now.State != loop.StateWaiting {
				t.Errorf("%q asks, the loop is %s", q.Agent, now.State)
			}
			time.Sleep(time.Hour)
			if err := r.Answer(q.ID, ask.Answer{Kind: ask.Once}); err != nil {
				t.Error(err)
			}
		})
		r = prepareVerified(t, nil, []checked{passes}, func(c *setup.Config) { critic(c); c.Asking.On = true }, promise, reviews)
		must.OK(t, r.begin())
		end := r.over(loop.StopPromise, 2)
		if !slices.Equal(got, []backends.Answer{{Yes: true}}) || end.Duration > stream.Duration(11*time.Minute) {
			t.Errorf("told %+v after %v", got, end.Duration)
		}
		wait := slices.Index(r.log.lines, "state waiting permission")
		if wait < 0 || !strings.HasPrefix(r.log.lines[wait-1], "asked Bash go test") || !slices.Contains(r.log.lines[wait:], "answered once") {
			t.Errorf("%q", r.log.lines)
		}
	})
}

// What the user waited with in the iteration isn't the reviewer's to take.
func TestAReviewerGetsNoTimeOfTheIterations(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		var got []backends.Answer
		first, slow := promise, approves
		first.during = asksIn(&r, 0, "ls", &got, func(q ask.Question) {
			time.Sleep(time.Hour)
			r.Answer(q.ID, ask.Answer{Kind: ask.Once})
		})
		slow.lasts = 30 * time.Minute
		r = prepareVerified(t, nil, []checked{passes},
			func(c *setup.Config) { critic(c); c.Asking.On = true; c.Limits.IdleTimeout = 0 }, first, slow)
		must.OK(t, r.begin())
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if st := r.Status(); st.State != loop.StatePaused || !strings.Contains(st.Unchecked, "took longer than 10m") {
			t.Errorf("it is %s: %s", st.State, st.Unchecked)
		}
		r.Cancel()
	})
}

// A no of the user's is nothing against the work, and what nobody needs to answer any more vanishes.
func TestHowAReviewersQuestionEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end      func(r *rig, q ask.Question)
		reason   loop.StopReason
		answered string
		timeout  time.Duration
	}{
		"denied":      {func(r *rig, q ask.Question) { r.Answer(q.ID, ask.Answer{Kind: ask.Deny, By: "terminal"}) }, loop.StopPromise, "answered deny", 0},
		"nobody came": {func(r *rig, q ask.Question) { time.Sleep(5 * time.Minute) }, loop.StopPromise, "answered deny", 5 * time.Minute},
		"taken back":  {func(r *rig, q ask.Question) { hear(r.agents.specs[1], stream.Withdrawn{ID: "1"}) }, loop.StopPromise, "answered moot", 0},
		"cancelled":   {func(r *rig, q ask.Question) { go r.Cancel() }, loop.StopCancelled, "answered moot", 0},
		"it ends":     {func(r *rig, q ask.Question) {}, loop.StopPromise, "answered moot", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var r *rig
				reviews := approves
				reviews.result.Denials = []stream.Denial{{Tool: "Bash", ID: "call-1"}}
				reviews.during = func() {
					r.agents.specs[1].Ask(wants("1", "Bash", `{"command":"ls"}`), func(backends.Answer) bool { return true })
					hear(r.agents.specs[0], stream.Withdrawn{ID: "1"}) // of the iteration's own agent, which isn't it
					q := r.open(0)
					tt.end(r, q)
					synctest.Wait()
					if left := len(r.Status().Questions); (left == 1) != (name == "it ends") {
						t.Errorf("%d are open", left)
					}
				}
				r = prepareVerified(t, nil, []checked{passes},
					func(c *setup.Config) { critic(c); c.Asking.On, c.Asking.Timeout = true, tt.timeout }, promise, reviews)
				must.OK(t, r.begin())
				if end := r.Wait(); end.Reason != tt.reason {
					t.Errorf("it ended: %+v", end)
				}
				if r.log.count(tt.answered) != 1 || r.log.count("answered ") != 1 || len(r.Status().Questions) > 0 {
					t.Errorf("%q", r.log.lines)
				}
			})
		})
	}
}

// Agents of a step ask by their names, each for itself, although their ids are the same; the
// user's time isn't theirs.
func TestAgentsOfAStepAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		var tr *troupe
		var last []backends.Answer
		begun := make(chan struct{})
		asks := func(name, command string, then func(told chan backends.Answer)) run {
			p := speaks(1, "<promise>DONE</promise>")
			p.during = func() {
				<-begun
				tr.mu.Lock()
				spec := tr.specs[name][0]
				tr.mu.Unlock()
				told := make(chan backends.Answer, 1)
				spec.Ask(wants("1", "Bash", `{"command":"`+command+`"}`), func(a backends.Answer) bool { told <- a; return true })
				then(told)
			}
			return p
		}
		r, tr = crewed(t, []string{"a b", "c"}, func(c *setup.Config) { c.Asking.On, c.Limits.IdleTimeout = true, time.Minute },
			map[string][]run{
				"a": {asks("a", "make", func(chan backends.Answer) {})}, // it doesn't wait for the answer
				"b": {asks("b", "make", func(told chan backends.Answer) {
					time.Sleep(time.Hour)
					if q := r.open(0); len(r.Status().Questions) != 1 || q.Agent != "b" {
						t.Errorf("open are %+v", r.Status().Questions)
					}
					if err := r.Answer(r.open(0).ID, ask.Answer{Kind: ask.ForLoop}); err != nil {
						t.Error(err)
					}
					last = append(last, <-told)
				})},
				"c": {asks("c", "make", func(told chan backends.Answer) { last = append(last, <-told) })}, // what the loop may, it may
			})
		close(begun)
		end := r.Wait()
		if end.Reason != loop.StopPromise || !slices.Equal(last, []backends.Answer{{Yes: true}, {Yes: true}}) || time.Duration(end.Duration) > time.Minute {
			t.Errorf("told %+v, over: %+v", last, end)
		}
		if r.log.count("asked Bash make") != 2 || r.log.count("answered moot") != 1 || r.log.count("answered loop") != 1 {
			t.Errorf("%q", r.log.lines)
		}
	})
}
