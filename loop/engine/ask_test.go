package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// wants is a question of claude's about a call of a tool.
func wants(id, tool, input string) stream.Question {
	return stream.Question{ID: id, Method: "can_use_tool", Tool: tool, CallID: "call-" + id, Input: []byte(input), Message: strings.Trim(strings.SplitN(input, ":", 2)[1], `"}`)}
}

// asking is a loop whose first agent asks its user. asks returns where the answer arrives; an agent
// does nothing before it has it.
func asking(t *testing.T, configure func(*setup.Config), during func(r *rig, asks func(stream.Question) chan backends.Answer), then ...run) *rig {
	t.Helper()
	var r *rig
	first := run{lasts: time.Second, result: stream.Result{Text: "more to do", ToolCalls: 1}}
	first.during = func() {
		during(r, func(q stream.Question) chan backends.Answer {
			got := make(chan backends.Answer, 1)
			var once bool
			r.agents.specs[0].Ask(q, func(a backends.Answer) bool {
				if once {
					t.Errorf("%s was answered twice", q.ID)
				}
				once = true
				got <- a
				return true
			})
			return got
		})
	}
	r = prepare(t, nil, func(c *setup.Config) {
		c.Asking.On = true
		if configure != nil {
			configure(c)
		}
	}, append([]run{first}, then...)...)
	must.OK(t, r.begin())
	return r
}

// open is the question that waits at this place of the row.
func (r *rig) open(i int) ask.Question {
	r.t.Helper()
	all := r.Status().Questions
	if i >= len(all) {
		r.t.Errorf("only %d questions are open", len(all)) // it isn't the test's own goroutine
		return ask.Question{}
	}
	return all[i]
}

func TestTheUserIsAsked(t *testing.T) {
	for _, c := range []struct {
		q      stream.Question
		title  string
		answer ask.Answer
		want   backends.Answer
	}{
		{wants("1", "Bash", `{"command":"rm -rf build"}`), "Bash rm -rf build", ask.Answer{Kind: ask.Once}, backends.Answer{Yes: true}},
		{wants("2", "Bash", `{"command":"rm -rf build"}`), "Bash rm -rf build", ask.Answer{Kind: ask.Deny, Text: "not this one"}, backends.Answer{Text: "not this one"}},
		{stream.Question{ID: "3", Method: "confirm", Title: "Sure?"}, "Sure?", ask.Answer{Kind: ask.Once}, backends.Answer{Yes: true}},
		{stream.Question{ID: "4", Method: "select", Title: "Which?", Options: []string{"A", "B"}}, "Which?", ask.Answer{Kind: ask.Value, Text: "B"}, backends.Answer{Yes: true, Text: "B"}},
		{stream.Question{ID: "5", Method: "input", Title: "Name?"}, "Name?", ask.Answer{Kind: ask.Value, Text: "x"}, backends.Answer{Yes: true, Text: "x"}},
		{stream.Question{ID: "6", Method: "editor"}, "the agent asks", ask.Answer{Kind: ask.Deny}, backends.Answer{}},
	} {
		t.Run(c.q.Method+" "+c.answer.Kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
					got := asks(c.q)
					now := r.Status()
					if q := r.open(0); now.State != loop.StateWaiting || now.Retry != nil || q.Title != c.title {
						t.Errorf("it is %s for %q", now.State, q.Title)
					}
					if err := r.Answer(r.open(0).ID, c.answer); err != nil {
						t.Error(err)
					}
					if a := <-got; a != c.want {
						t.Errorf("the agent is told %+v", a)
					}
					if now := r.Status(); now.State != loop.StateRunning || len(now.Questions) > 0 {
						t.Errorf("behind the answer it is %s with %d questions", now.State, len(now.Questions))
					}
				}, promise)
				r.over(loop.StopPromise, 2)
				wait, back := slices.Index(r.log.lines, "state waiting permission"), slices.Index(r.log.lines, "answered "+c.answer.Kind)
				if wait < 0 || back < wait || r.log.lines[back+1] != "state running" || r.log.lines[wait-1] != "asked "+c.title {
					t.Errorf("%q", r.log.lines)
				}
			})
		})
	}
}

// Nothing but an answer to the question that is open does anything, and the first one counts.
func TestWhatIsNoAnswerDoesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
			got := asks(stream.Question{ID: "1", Method: "select", Title: "Which?", Options: []string{"A", "B"}})
			id := r.open(0).ID
			for _, bad := range []ask.Answer{{}, {Kind: "yes"}, {Kind: ask.Once}, {Kind: ask.ForLoop}, {Kind: ask.Withdrawn}, {Kind: ask.Value}, {Kind: ask.Value, Text: "C"}} {
				if err := r.Answer(id, bad); !errors.Is(err, ask.ErrNoQuestion) || err.Error() == ask.ErrNoQuestion.Error() {
					t.Errorf("%+v: %v", bad, err)
				}
			}
			if err := r.Answer("q9", ask.Answer{Kind: ask.Deny}); !errors.Is(err, ask.ErrNoQuestion) {
				t.Error(err)
			}
			if len(got) > 0 || len(r.Status().Questions) != 1 {
				t.Error("something was answered")
			}
			first, second := r.Answer(id, ask.Answer{Kind: ask.Value, Text: "A"}), r.Answer(id, ask.Answer{Kind: ask.Value, Text: "B"})
			if a := <-got; first != nil || second != ask.ErrNoQuestion || a.Text != "A" {
				t.Errorf("%v, %v: %+v", first, second, a)
			}
		}, promise)
		r.over(loop.StopPromise, 2)
	})
}

// What the user allows is known to who goes on with the loop, and asked again once it is taken back.
func TestWhatIsAllowedCanBeTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
			one := asks(wants("1", "Bash", `{"command":"git commit"}`))
			r.Answer(r.open(0).ID, ask.Answer{Kind: ask.ForLoop})
			<-one
			time.Sleep(2 * bookInterval)
			want := []string{"Bash(git commit:*)"}
			var left loopstate.State
			r.engine.inbox.Do(func() { left = r.engine.resumable() })
			for what, got := range map[string][]string{"the file": r.file.now().Allowed, "the loop": r.Status().Allowed, "what it goes on with": left.Allowed} {
				if !slices.Equal(got, want) {
					t.Errorf("%s has %q", what, got)
				}
			}
			if a := <-asks(wants("3", "Bash", `{"command":"git commit"}`)); !a.Yes {
				t.Error("what the user allowed is asked again")
			}
			if err := r.Disallow("Bash(git push:*)"); err == nil {
				t.Error("a rule is taken back that isn't there")
			}
			if err := r.Disallow(want[0]); err != nil || len(r.file.now().Allowed) > 0 {
				t.Errorf("%v, the file has %q", err, r.file.now().Allowed)
			}
			if got := asks(wants("4", "Bash", `{"command":"git commit"}`)); len(got) > 0 {
				t.Error("it isn't asked again")
			}
			r.Answer(r.open(0).ID, ask.Answer{Kind: ask.Deny})
		}, promise)
		r.over(loop.StopPromise, 2)
	})
}

// A question is open for as long as its user needs: that isn't the agent's time.
func TestTheUsersTimeIsNotTheAgents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, func(c *setup.Config) { c.Limits.IdleTimeout, c.Limits.MaxDuration = time.Minute, 2*time.Minute },
			func(r *rig, asks func(stream.Question) chan backends.Answer) {
				got := asks(wants("1", "Bash", `{"command":"ls"}`))
				time.Sleep(time.Hour)
				if spent := r.Status().Elapsed; spent > time.Minute {
					t.Errorf("%v are spent", spent)
				}
				r.Answer(r.open(0).ID, ask.Answer{Kind: ask.Once})
				<-got
			}, promise)
		end := r.over(loop.StopPromise, 2)
		if end.Duration > stream.Duration(time.Minute) || r.log.ends[0].Duration > stream.Duration(time.Minute) || r.log.ends[0].Outcome != loop.OutcomeOK {
			t.Errorf("it took %v, %v", end.Duration, r.log.ends[0].Duration)
		}
	})
}

func TestNobodyAnswersInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var denied run
		denied.result = stream.Result{Text: "refused", ToolCalls: 1, Denials: []stream.Denial{{Tool: "Bash", ID: "call-1"}}}
		r := asking(t, func(c *setup.Config) { c.Asking.Timeout = 10 * time.Minute },
			func(r *rig, asks func(stream.Question) chan backends.Answer) {
				began := time.Now()
				a := <-asks(wants("1", "Bash", `{"command":"ls"}`))
				if waited := time.Since(began); a.Yes || !strings.Contains(a.Text, "nobody answered within 10m") || waited != 10*time.Minute {
					t.Errorf("after %v: %+v", waited, a)
				}
			}, promise)
		r.over(loop.StopPromise, 2)
	})
}

// What needs no answer any more vanishes everywhere, and what is asked then is denied at once.
func TestAQuestionThatIsMootVanishes(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"taken back": func(r *rig) { hear(r.agents.specs[0], stream.Withdrawn{ID: "1"}) },
		"cancelled":  func(r *rig) { go r.Cancel() },
		"next":       func(r *rig) { r.Next() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
					got := asks(wants("1", "Bash", `{"command":"ls"}`))
					id := r.open(0).ID
					synctest.Wait()
					end(r)
					synctest.Wait()
					if err := r.Answer(id, ask.Answer{Kind: ask.Once}); !errors.Is(err, ask.ErrNoQuestion) || len(got) > 0 || len(r.Status().Questions) > 0 {
						t.Errorf("%v, %d, %d", err, len(got), len(r.Status().Questions))
					}
					if name != "taken back" {
						if a := <-asks(wants("2", "Bash", `{"command":"ls"}`)); a.Yes {
							t.Error("it may go on")
						}
					}
				}, promise)
				r.Wait()
				if r.log.count("answered moot") != 1 {
					t.Errorf("%q", r.log.lines)
				}
			})
		})
	}
}

// An agent that dies while it asks leaves nothing open.
func TestAnAgentDiesWhileItAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
			asks(wants("1", "Bash", `{"command":"ls"}`))
		}, promise)
		r.over(loop.StopPromise, 2)
		if r.log.count("answered moot") != 1 || len(r.Status().Questions) > 0 || r.Status().State != loop.StateEnded {
			t.Errorf("%q", r.log.lines)
		}
	})
}

func TestAFloodOfQuestionsIsDammed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, nil, func(r *rig, asks func(stream.Question) chan backends.Answer) {
			for i := range ask.MaxQuestions {
				asks(wants(fmt.Sprint(i), "Bash", `{"command":"ls"}`))
			}
			if a := <-asks(wants("more", "Bash", `{"command":"ls"}`)); a.Yes || !strings.Contains(a.Text, "32 questions wait") {
				t.Errorf("%+v", a)
			}
			if n := len(r.Status().Questions); n != ask.MaxQuestions {
				t.Errorf("%d are open", n)
			}
		}, promise)
		r.over(loop.StopPromise, 2)
	})
}

// What the user has denied twice in a row doesn't end the loop, as what nobody is asked does.
func TestANoOfTheUsersEndsNoLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		deny := func(by string) (reason loop.StopReason) {
			var r *rig
			runs := make([]run, 4)
			for i := range runs {
				runs[i] = run{lasts: time.Minute, result: stream.Result{Text: "no", ToolCalls: 1, Denials: []stream.Denial{{Tool: "Bash", ID: "call-1"}}}}
				runs[i].during = func() {
					r.agents.specs[i].Ask(wants("1", "Bash", `{"command":"ls"}`), func(backends.Answer) bool { return true })
					r.Answer(r.open(0).ID, ask.Answer{Kind: ask.Deny, By: by})
				}
			}
			r = prepare(t, nil, func(c *setup.Config) { c.Asking.On, c.Limits.MaxIterations = true, 4 }, runs...)
			must.OK(t, r.begin())
			return r.Wait().Reason
		}
		if why := deny("terminal"); why != loop.StopMaxIterations {
			t.Errorf("the user's no ends it: %s", why)
		}
		if why := deny(ask.ByTimeout); why != loop.StopPermissionDenied {
			t.Errorf("nobody's no ends it: %s", why)
		}
	})
}

// After a kill nobody waits for the old answers, and a stranger's file allows nothing.
func TestALoopThatGoesOnAsksAnew(t *testing.T) {
	for _, stranger := range []bool{false, true} {
		left := setup.Config{Asking: setup.Asking{On: true}, Values: settings.Values{Permissions: "ask"}, Promise: "DONE",
			Limits: limits.Default()}.NewState("ralph-test", time.Now())
		left.Prompt = "Build it"
		left.Allowed = []string{"Bash(ls)"}
		bubble(t, func(t *testing.T) {
			r := prepare(t, &left, func(c *setup.Config) {
				c.Asking.On, c.Values.Permissions, c.Continue, c.Stranger = true, "ask", true, stranger
			}, promise)
			must.OK(t, r.begin())
			s := r.file.now()
			if (len(s.Allowed) == 0) != stranger || s.Permissions != "ask" {
				t.Errorf("%q", s.Allowed)
			}
			r.over(loop.StopPromise, 1)
		})
	}
}
