package notify

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// phone is a loop whose user answers by a command.
type phone struct {
	*Notifier
	*said
	mu      sync.Mutex
	answers []string
}

// asking returns one whose command is a script. open are the loop's questions.
func asking(t *testing.T, script string, open ...ask.Question) *phone {
	t.Helper()
	command, err := writeScript(t, script)
	if err != nil {
		t.Skip(err)
	}
	p := &phone{said: &said{}}
	p.Notifier = New(setup.Config{Folder: "/home/u/project", Notify: settings.Notify{Reply: []string{command}}}, At{Warn: p.said.warn})
	p.Begun("ralph-x", func(id string, a ask.Answer) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, q := range open {
			if q.ID == id {
				p.answers = append(p.answers, strings.TrimSpace(strings.Join([]string{id, a.Kind, a.Text}, " "))+" by "+a.By)
				return q.Takes(a)
			}
		}
		return ask.ErrNoQuestion
	})
	t.Cleanup(p.Close)
	return p
}

var (
	mayPush = ask.Question{ID: "q1abc", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Detail: "git push", Rule: "Bash(git push)"}
	mayRun  = ask.Question{ID: "q2abc", Kind: ask.Permission, Title: "Bash a; b", Detail: "a; b"}
	which   = ask.Question{ID: "q3abc", Kind: ask.Select, Title: "Which?", Options: []string{"2", "deny  it"}}
	whose   = ask.Question{ID: "q4abc", Kind: ask.Input, Title: "Whose?"}
	looser  = ask.Question{ID: "q5abc", Kind: ask.Limits, Title: "max_cost: 5 → 500"}
)

func TestAPhoneAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		q            ask.Question
		want, warns  string
	}{
		{"once", "echo once", mayPush, "q1abc once by reply command", ""},
		{"as it is typed", "echo '  Yes '", mayPush, "q1abc once by reply command", ""},
		{"no, with words for the agent", "echo 'deny not that; branch'", mayPush, "q1abc deny not that; branch by reply command", ""},
		{"for the loop", "echo loop", mayPush, "q1abc loop by reply command", ""},
		{"with the question's id", "echo q1abc once", mayPush, "q1abc once by reply command", ""},
		{"a text", "echo Jane; echo Doe", whose, "q4abc value Jane Doe by reply command", ""},
		{"an option", "echo 2", which, "q3abc value 2 by reply command", ""},
		{"what is looser counts", "echo once", looser, "q5abc once by reply command", ""},

		{"more than is offered", "echo loop", mayRun, "", `"loop" is no answer to this question: say deny, once`},
		{"more than is offered for limits", "echo loop", looser, "", `"loop" is no answer to this question: say deny, once`},
		{"an answer to another question", "echo q2abc once", mayPush, "", `"q2abc once" is no answer: deny [words`},
		{"no answer", "echo whatever", mayPush, "", `"whatever" is no answer: deny [words`},
		{"no option", "echo C", which, "", `"C" is none of the options`},
		{"nothing", "cat >/dev/null", mayPush, "", ""},
		{"an answer, and a failure", "echo once; echo offline >&2; exit 3", mayPush, "", "(exit code 3) offline"},
		{"too much", "yes once", mayPush, "", "it prints more than 16,384 bytes"},
		{"a warning beside the answer", "echo slow >&2; echo once", mayPush, "q1abc once by reply command", ""},
		{"somebody else was quicker", "echo once", ask.Question{ID: "q9abc", Kind: ask.Confirm}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := asking(t, tt.script, mayPush, mayRun, which, whose, looser)
			for range 2 { // a night has many questions, and one warning
				p.HandleLoop(loop.Asked{Question: tt.q})
				p.under.Wait()
			}
			want := []string(nil)
			if tt.want != "" {
				want = []string{tt.want, tt.want}
			}
			if diff := cmp.Diff(want, p.answers); diff != "" {
				t.Error(diff)
			}
			got := strings.Join(p.warns, "\n")
			if (tt.warns == "") != (got == "") || !strings.Contains(got, tt.warns) || len(p.warns) > 1 {
				t.Errorf("warned %q, want %q", p.warns, tt.warns)
			}
		})
	}
}

// What the command gets has all that is needed for buttons, and what they print is what they say.
func TestWhatAPhoneIsAsked(t *testing.T) {
	p := asking(t, "cat >>got\n", which)
	got := filepath.Join(filepath.Dir(p.cfg.Notify.Reply[0]), "got")
	for _, q := range []ask.Question{mayPush, which} {
		p.HandleLoop(loop.Asked{Question: q})
		p.under.Wait()
	}
	data, err := os.ReadFile(got)
	const want = `{"event":"question","loopId":"ralph-x","folder":"/home/u/project","title":"Ralph in project","text":"asks: Bash git push","class":"warning",` +
		`"question":{"id":"q1abc","kind":"permission","tool":"Bash","title":"Bash git push","detail":"git push","rule":"Bash(git push)"},` +
		`"choices":[{"title":"Deny","say":"deny"},{"title":"Allow Once","say":"once"},{"title":"Allow Bash(git push) in This Loop","say":"loop"}]}` + "\n" +
		`{"event":"question","loopId":"ralph-x","folder":"/home/u/project","title":"Ralph in project","text":"asks: Which?","class":"warning",` +
		`"question":{"id":"q3abc","kind":"select","title":"Which?","options":["2","deny  it"]},` +
		`"choices":[{"title":"None of These","say":"deny"},{"title":"2","say":"1"},{"title":"deny it","say":"deny  it"}]}` + "\n"
	if diff := cmp.Diff(want, string(data)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for i, c := range questioned(which, "", "").Choices[1:] {
		p := asking(t, "echo '"+c.Say+"'", which)
		p.HandleLoop(loop.Asked{Question: which})
		p.under.Wait()
		if len(p.answers) != 1 || p.answers[0] != "q3abc value "+which.Options[i]+" by reply command" {
			t.Errorf("%q is understood as %q", c.Say, p.answers)
		}
	}
}

// A question that is open no more ends its command with all that it has started, and no other question's.
func TestACommandEndsWithItsQuestion(t *testing.T) {
	for name, over := range map[string]loop.Event{
		"answered elsewhere": loop.AnswerTo(mayPush, ask.Answer{Kind: ask.Deny}), "needed no more": loop.AnswerTo(mayPush, ask.Answer{Kind: ask.Withdrawn}),
		"the loop ends": endOf(loop.StopPromise),
	} {
		t.Run(name, func(t *testing.T) {
			key, value := "RALPH_REPLY_TEST", filepath.Base(filepath.Dir(t.TempDir()))+time.Now().Format(".000000000")
			t.Setenv(key, value)
			p := asking(t, "read -r q; case \"$q\" in *q1abc*) ;; *) until [ -e go ]; do sleep 0.02; done; echo once; exit ;; esac\n"+
				"setsid sleep 3600 & echo >begun; sleep 3600; echo once", mayPush, mayRun)
			at := func(name string) string { return filepath.Join(filepath.Dir(p.cfg.Notify.Reply[0]), name) }
			p.HandleLoop(loop.Asked{Question: mayPush})
			proctest.Until(t, "the command", func() bool { return exists(at("begun")) })
			p.HandleLoop(loop.Asked{Question: mayRun})
			p.HandleLoop(over)
			if _, isEnd := over.(loop.End); !isEnd {
				must.OK(t, os.WriteFile(at("go"), nil, 0o600))
				p.under.Wait()
				if len(p.answers) != 1 || p.answers[0] != "q2abc once by reply command" {
					t.Errorf("answered %q", p.answers)
				}
			}
			p.Close()
			proctest.CheckNone(t, 0, key+"="+value)
			if len(p.warns) > 0 {
				t.Errorf("warned %q", p.warns)
			}
		})
	}
}

// The program that holds a loop answers for its user.
func TestAProgramThatHoldsALoopIsNotAsked(t *testing.T) {
	p := asking(t, "echo once", mayPush)
	cfg := p.cfg
	cfg.Once = true
	tl := New(cfg, At{Warn: p.said.warn})
	tl.Begun("ralph-x", p.answer)
	tl.HandleLoop(loop.Asked{Question: mayPush})
	tl.Close()
	if len(p.answers) > 0 || len(p.warns) > 0 {
		t.Errorf("answered %q, warned %q", p.answers, p.warns)
	}
}

func TestATestQuestion(t *testing.T) {
	for script, want := range map[string]string{
		"echo once": "allowed once: Bash echo hello", "echo no": "denied: Bash echo hello", ":": "it ended without an answer", "echo perhaps": `"perhaps" is no answer`,
	} {
		p := asking(t, script)
		said, err := TestReply(t.Context(), p.cfg.Notify.Reply, p.cfg.Folder)
		if err != nil {
			said = err.Error()
		}
		if !strings.HasPrefix(said, want) {
			t.Errorf("%s: %q, want %q", script, said, want)
		}
	}
}
