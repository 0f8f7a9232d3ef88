package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// exampleQuestion is a command that claude may not run unasked.
var exampleQuestion = ask.Question{
	ID: "q1", Kind: ask.Permission, Tool: "Bash", CallID: "toolu_1", Title: "Bash git commit -m wip",
	Detail: "git commit -m wip", Rule: "Bash(git commit:*)", At: noon,
}

// exampleQuestions has one question of each kind, and of an agent below.
func exampleQuestions() []Question {
	var all []Question
	for _, q := range []ask.Question{
		exampleQuestion,
		{ID: "q2", Kind: ask.Permission, Tool: "Edit", Agent: "scout", Title: "Edit src/a.go", Detail: "--- src/a.go\n+++ src/a.go\n@@ -1 +1 @@\n-old\n+new\n", At: noon},
		{ID: "q3", Kind: ask.Confirm, Title: "Deploy now?", Detail: "To production.", At: noon, Until: noon.Add(time.Hour)},
		{ID: "q4", Kind: ask.Select, Title: "Which one?", Options: []string{"staging", "production"}, At: noon},
		{ID: "q6", Kind: ask.Limits, Title: "may the loop have 500 iterations instead of 3 iterations?", Detail: "The state file was changed so.", At: noon},
		{ID: "q5", Kind: ask.Input, Title: "Which version?", Placeholder: "1.2.3", At: noon},
	} {
		all = append(all, QuestionOf(q, "ralph-ca7igygdcr4i", "/w/app"))
	}
	return all
}

// The first offer allows nothing, whatever is asked.
func TestTheFirstOfferIsTheSafeOne(t *testing.T) {
	for _, q := range exampleQuestions() {
		if len(q.Offers) == 0 || q.Offers[0].Arguments[0].(AnswerParams).Answer != ask.Deny {
			t.Errorf("%s: %+v", q.Title, q.Offers)
		}
		for _, o := range q.Offers {
			if p := o.Arguments[0].(AnswerParams); o.Command != CommandAnswer || p.ID != q.ID || p.LoopID == "" || p.Folder == "" {
				t.Errorf("%s: %+v is about no question", q.Title, o)
			}
		}
	}
}

// What can't be said safely isn't offered for the whole loop.
func TestARuleIsNamedInItsOffer(t *testing.T) {
	titles := func(q ask.Question) (all []string) {
		for _, o := range QuestionOf(q, "", "/w").Offers {
			all = append(all, o.Title)
		}
		return all
	}
	q := exampleQuestion
	if got := titles(q); !slices.Equal(got, []string{"Deny", "Allow Once", "Allow Bash(git commit:*) in This Loop"}) {
		t.Errorf("%q", got)
	}
	if q.Rule = ""; !slices.Equal(titles(q), []string{"Deny", "Allow Once"}) {
		t.Errorf("%q", titles(q))
	}
}

func TestALoopThatAsks(t *testing.T) {
	s := loop.Status{LoopID: "l", Folder: "/w/app", State: loop.StateWaiting, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}, Work: loop.Work{Questions: []ask.Question{exampleQuestion}, Allowed: []string{"Bash(go test:*)"}}}
	l := StatusOf(s, true)
	if want := "3/50 · asks: Bash git commit -m wip"; l.Text != want || l.Line != want || l.Class != ClassWarning {
		t.Errorf("%q, %q, %s", l.Text, l.Line, l.Class)
	}
	if slices.Contains(l.Can, CanResume) || l.Can[0] != CanAnswer {
		t.Errorf("it can %q", l.Can)
	}
	if want := []Detail{{"Asks", "Bash git commit -m wip"}, {"Command", "ralph-lsp answer -C /w/app"}, {"Allowed", "Bash(go test:*)"}}; !reflect.DeepEqual(l.Details[:3], want) {
		t.Errorf("%q", l.Details)
	}
	var controls []string
	for _, c := range ControlsOf(l) {
		controls = append(controls, c.Title)
	}
	if want := []string{"Deny: Bash git commit -m wip", "Allow Once: Bash git commit -m wip", "Allow Bash(git commit:*) in This Loop: Bash git commit -m wip", "Cancel", "Pause"}; !slices.Equal(controls, want) {
		t.Errorf("a client without a plugin has %q", controls)
	}
	s.Questions = append(s.Questions, ask.Question{ID: "q2", Kind: ask.Input, Agent: "scout", Title: "Which version?"})
	if l := StatusOf(s, true); l.Line != "3/50 · asks: Bash git commit -m wip · 1 more question" {
		t.Error(l.Line)
	}
	others := []LoopStatus{{State: "running"}, {State: "interrupted"}, l}
	if first := SortByNeed(others)[0]; len(first.Questions) == 0 {
		t.Errorf("first comes one that is %s", first.State)
	}
	s.Pausing = true
	if l := StatusOf(s, true); !slices.Contains(l.Can, CanResume) || slices.Contains(l.Can, CanPause) {
		t.Errorf("one that is about to pause can %q", l.Can)
	}
}

func TestWhatCameOfAQuestion(t *testing.T) {
	confirm := ask.Question{Kind: ask.Confirm, Title: "Deploy now?"}
	pick := ask.Question{Kind: ask.Select, Title: "Which one?"}
	for _, tt := range []struct {
		q    ask.Question
		a    ask.Answer
		want string
	}{
		{exampleQuestion, ask.Answer{Kind: ask.Deny}, "denied: Bash git commit -m wip"},
		{exampleQuestion, ask.Answer{Kind: ask.Deny, Text: "not\nthat"}, "denied: Bash git commit -m wip: not that"},
		{exampleQuestion, ask.Answer{Kind: ask.Once}, "allowed once: Bash git commit -m wip"},
		{exampleQuestion, ask.Answer{Kind: ask.ForLoop}, "allowed: Bash git commit -m wip; from now on in this loop: Bash(git commit:*)"},
		{exampleQuestion, ask.Answer{Kind: ask.Withdrawn}, "needs no answer any more: Bash git commit -m wip"},
		{confirm, ask.Answer{Kind: ask.Once}, "answered yes: Deploy now?"},
		{confirm, ask.Answer{Kind: ask.Deny}, "answered no: Deploy now?"},
		{pick, ask.Answer{Kind: ask.Value, Text: "staging"}, "answered: Which one?: staging"},
		{pick, ask.Answer{Kind: ask.Deny}, "not answered: Which one?"},
	} {
		if got := AnsweredText(tt.q, tt.a); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// An agent, or a worker of a bus, says what it likes in each of them.
func TestEveryTextOfAQuestionIsPlain(t *testing.T) {
	const bad, good = "\x1b[31mre\ad\u202e", "red"
	var q ask.Question
	fields := reflect.ValueOf(&q).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(bad)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{bad, bad}))
		default:
			if f.Type() != reflect.TypeFor[time.Time]() {
				t.Errorf("may %s hold text? then it has to be tried, too", fields.Type().Field(i).Name)
			}
		}
	}
	shown := QuestionOf(q, "ralph-ca7igygdcr4i", "/w/app")
	fields = reflect.ValueOf(shown.Question)
	for i := range fields.NumField() {
		texts, isList := fields.Field(i).Interface().([]string)
		if text, is := fields.Field(i).Interface().(string); is {
			texts = []string{text}
		} else if !isList {
			continue
		}
		for _, text := range texts {
			if !strings.Contains(text, good) || text != stream.Sanitize(text) {
				t.Errorf("%s is shown as %q", fields.Type().Field(i).Name, text)
			}
		}
	}
	for _, o := range shown.Offers {
		if o.Title != OneLine(o.Title) {
			t.Errorf("an offer is called %q", o.Title)
		}
	}
	if shown.Text != OneLine(shown.Text) {
		t.Errorf("it reads %q", shown.Text)
	}
}
