package plan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// rows shows a plan: a line for each item.
func rows(p Plan) string {
	var b strings.Builder
	for _, it := range p.Items {
		box, kind := " ", ""
		if p.IsDone(it) {
			box = "x"
		}
		if it.group {
			kind = " group"
		}
		fmt.Fprintf(&b, "%d:%d [%s] %s|%s|%s|%s|%s|%s%s\n", it.N, it.Line, box, it.Heading, it.Text, strings.ReplaceAll(it.More, "\n", "/"), it.Verify, it.Agent, strings.Join(it.After, "/"), kind)
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "%d! %s\n", problem.Line, problem.Text)
	}
	if next, ok := p.Next(); ok {
		fmt.Fprintf(&b, "next %d\n", next.N)
	}
	return b.String()
}

func TestWhatAFileSays(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"tasks below headings", "# A\n\n- [ ] one\n* [x] two\n## B ##\n1. [X] three\n2) [ ] four\n- [] no\n- [ ]no\n- [-] no\n",
			"1:3 [ ] A|one||||\n2:4 [x] A|two||||\n3:6 [x] B|three||||\n4:7 [ ] B|four||||\nnext 1\n"},
		{"with CRLF, a BOM and tabs", "\uFEFF- [ ] one\r\n\t- [x]\ttwo\r\n", "1:1 [x] |one|||| group\n2:2 [x] |two||||\n"},
		{"nested", "- [ ] a\n  - [ ] b\n    - [x] c\n    - [ ] d\n  - [x] e\n- [x] f\n",
			"1:1 [ ] |a|||| group\n2:2 [ ] |b|||| group\n3:3 [x] |c||||\n4:4 [ ] |d||||\n5:5 [x] |e||||\n6:6 [x] |f||||\nnext 4\n"},
		{"a group with a check comes behind what is below it", "- [x] a (verify: make)\n  - [ ] b\n", "1:1 [ ] |a||make||\n2:2 [ ] |b||||\nnext 2\n"},
		{"below an item without a box", "- group\n    - [ ] a\n", "1:2 [ ] |a||||\nnext 1\n"},
		{"not in code", "```\n- [ ] a\n```\n~~~ x\n- [ ] b\n```\n~~~\n    - [ ] c\n- [ ] d\n  ```sh\n  - [ ] e\n  ```\n", "1:9 [ ] |d|```sh/- [ ] e/```|||\nnext 1\n"},
		{"not in comments", "<!-- - [ ] a -->\n<!--\n- [ ] b\n-->\n- [ ] c <!-- d\n- [ ] e\n-->\n- [ ] f\n", "1:5 [ ] |c||||\n2:8 [ ] |f||||\nnext 1\n"},
		{"what belongs to a task", "- [ ] a\n  more\n  - detail\n\n  still (verify: make)\nnot\n- [ ] b\nlazy\n\nnot\n", "1:1 [ ] |a|more/- detail/still/not|make||\n2:7 [ ] |b|lazy|||\nnext 1\n"},
		{"what is in parentheses", "- [ ] a (verify: `go test -run 'T(a|b'`) (agent: critic) now\n- [ ] b (after: 1) (verify: echo \")\")\n- [ ] c `(verify: x)` (d) (After: a)\n",
			"1:1 [ ] |a now||go test -run 'T(a|b'|critic|\n2:2 [ ] |b||echo \")\"||1\n3:3 [ ] |c `(verify: x)` (d)||||a\nnext 1\n"},
		{"its turn", "- [ ] a (after: c)\n- [ ] b (after: #3, 4)\n- [x] c\n- [ ] d\n", "1:1 [ ] |a||||c\n2:2 [ ] |b||||#3, 4\n3:3 [x] |c||||\n4:4 [ ] |d||||\nnext 1\n"},
		{"what is below a task that waits", "- [ ] a (after: c)\n  - [ ] b\n- [ ] c\n", "1:1 [ ] |a||||c group\n2:2 [ ] |b||||\n3:3 [ ] |c||||\nnext 3\n"},
		{"what can't be", "- [ ] a (after: nobody)\n- [ ] b (after: 9)\n- [ ] c (verify: x\n- [ ] d (agent:)\n- [ ] e (after: f)\n- [ ] f (after: e)\n- [ ] g (agent: a) (agent: b)\n",
			"1:1 [ ] |a||||nobody\n2:2 [ ] |b||||9\n3:3 [ ] |c (verify: x||||\n4:4 [ ] |d||||\n5:5 [ ] |e||||f\n6:6 [ ] |f||||e\n7:7 [ ] |g|||a|\n" +
				"1! after: there is no task \"nobody\"; name one by its text or its number\n2! after: there is no task 9, only 7\n3! (verify: isn't closed; write a ) at its end\n4! agent: says nothing; write it, or leave the parentheses out\n" +
				"5! \"e\" never has its turn: what it waits for can't be done before it\n6! \"f\" never has its turn: what it waits for can't be done before it\n7! agent: is said twice; leave one out\n"},
		{"a name of two", "- [x] ab\n- [x] ac\n- [ ] d (after: a)\n", "1:1 [x] |ab||||\n2:2 [x] |ac||||\n3:3 [ ] |d||||a\n3! after: 2 tasks begin with \"a\"; name one of them by its number\n"},
		{"prd.json", `{"project": "p", "userStories": [
 {"id": "US-2", "title": "second", "priority": 2, "acceptanceCriteria": ["x", "y"], "passes": false},
 {"id": "US-1", "title": "first (verify: make)", "description": "As a user", "priority": 1, "passes": false},
 {"title": "third", "priority": 3, "passes": true}]}`, "1:2 [ ] |US-2: second|- x/- y|||\n2:3 [ ] |US-1: first|As a user|make||\n3:4 [x] |third||||\nnext 2\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := "PLAN.md"
			if tt.name == "prd.json" {
				name = tt.name
			}
			p, err := Parse(name, []byte(tt.file))
			if got := rows(p); err != nil || got != tt.want {
				t.Errorf("%v, got\n%swant\n%s", err, got, tt.want)
			}
		})
	}
}

func TestWhatIsNoPlan(t *testing.T) {
	for want, tt := range map[string]struct{ name, file string }{
		`PLAN.md has no task; write each as a line "- [ ] what is to be done"`:                    {"PLAN.md", "# A\n"},
		"PLAN.md is no text in UTF-8; save it as such":                                            {"PLAN.md", "\xFF\xFE-\x00"},
		"PLAN.md has more than 1 MiB, too much for a plan":                                        {"PLAN.md", strings.Repeat("x", MaxBytes+1)},
		"PLAN.md has more than 500 tasks; leave some for another plan":                            {"PLAN.md", strings.Repeat("- [ ] x\n", MaxItems+1)},
		"prd.json:2: it isn't JSON: invalid character '}' looking for beginning of value":         {"prd.json", "{\"userStories\": [\n}"},
		"prd.json has no task; write them into its userStories, as objects with title and passes": {"prd.json", `{"userStories": {}}`},
		"PRD.JSON has no task; write them into its userStories, as objects with title and passes": {"PRD.JSON", `[]`},
		"prd.json:1: this is no user story, an object with title and passes (true or false)":      {"prd.json", `{"userStories": [{"title": "a", "passes": 1}]}`},
		"prd.json:2: this is no user story, an object with title and passes (true or false)":      {"prd.json", "{\"userStories\": [{\"title\": \"a\"},\n{}]}"},
	} {
		if _, err := Parse(tt.name, []byte(tt.file)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestABoxIsOneByte(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"PLAN.md", "\uFEFF- [ ]\ta\r\n* [X] b \r\n", "a", "\uFEFF- [x]\ta\r\n* [X] b \r\n"},
		{"PLAN.md", "- [x] a\n  - [X] b\n- [x] c", "b", "- [ ] a\n  - [ ] b\n- [x] c"},
		{"prd.json", `{"userStories":[{"title":"a","passes":false , "x":1},{"title":"b"}]}`, "a", `{"userStories":[{"title":"a","passes":true , "x":1},{"title":"b"}]}`},
		{"prd.json", "\uFEFF" + `{"userStories":[{"title":"a","passes": true},{"title":"b"}]}`, "b", "\uFEFF" + `{"userStories":[{"title":"a","passes": true},{"passes": true, "title":"b"}]}`},
	} {
		p, err := Parse(tt.name, []byte(tt.file))
		must.OK(t, err)
		for _, it := range p.Items {
			if it.Text == tt.text {
				if got := p.Mark(it.ID, !p.IsDone(it)); string(got.Data) != tt.want || got.IsDone(got.Items[it.N-1]) == p.IsDone(it) {
					t.Errorf("got  %q\nwant %q", got.Data, tt.want)
				}
			}
		}
	}
	p, _ := Parse("PLAN.md", []byte("- [ ] a\n  - [x] b\n- [ ] c (verify: d)\n  - [x] e\n"))
	if got := string(p.Grouped().Data); got != "- [x] a\n  - [x] b\n- [ ] c (verify: d)\n  - [x] e\n" {
		t.Errorf("grouped: %q", got)
	}
}

func TestWhatAnAgentTookOut(t *testing.T) {
	before, _ := Parse("PLAN.md", []byte("- [ ] a (verify: one)\n- [ ] b\n- [x] c\n- [ ] d\n"))
	now, _ := Parse("PLAN.md", []byte("- [x] a (verify: true)\n- [x] b\n- [ ] new\n"))
	var lost []string
	for _, it := range before.Lost(now) {
		lost = append(lost, it.Text)
	}
	if back := before.With(now); fmt.Sprint(lost) != "[a d]" || string(back.Data) != "- [x] a (verify: one)\n- [x] b\n- [x] c\n- [ ] d\n" {
		t.Errorf("lost %q, back %q", lost, back.Data)
	}
}

func TestTheSameTextTwice(t *testing.T) {
	p, _ := Parse("PLAN.md", []byte("- [ ] a\n- [ ] A \n"))
	if p.Items[0].ID == p.Items[1].ID {
		t.Error("two items have one id")
	}
	if got := string(p.Mark(p.Items[1].ID, true).Data); got != "- [ ] a\n- [x] A \n" {
		t.Errorf("got %q", got)
	}
}

// Whatever a file says, an edit changes the boxes that it is about and nothing else.
func FuzzMark(f *testing.F) {
	f.Add("- [ ] a\n  - [x] b (after: 1)\n", 0, false)
	f.Add("\uFEFF1. [ ] a (verify: `x)`\r\n```\n- [ ] b", 1, false)
	f.Add(`{"userStories":[{"title":"a","passes":false},{"title":"b"}]}`, 1, true)
	f.Fuzz(func(t *testing.T, text string, n int, isPRD bool) {
		name := "PLAN.md"
		if isPRD {
			name = "prd.json"
		}
		p, err := Parse(name, []byte(text))
		if err != nil || n < 0 || n >= len(p.Items) {
			return
		}
		it := p.Items[n]
		now := p.Mark(it.ID, !it.checked)
		if len(now.Items) != len(p.Items) || now.Items[n].checked == it.checked || now.Items[n].ID != it.ID {
			t.Fatalf("%q became %q", text, now.Data)
		}
		for i, other := range p.Items {
			if i != n && now.Items[i].checked && !other.checked {
				t.Errorf("%q checked %d as well: %q", text, i, now.Data)
			}
		}
		if !isPRD && len(bytes.TrimRight(p.Data, "\n")) > 0 && len(now.Data) != len(p.Data) {
			t.Errorf("%q has another length: %q", text, now.Data)
		}
	})
}

// A loop may be there for one task: with those below it, and without those before it.
func TestOneTaskOfAPlan(t *testing.T) {
	p, err := Parse("PLAN.md", []byte("- [ ] a (verify: one)\n- [ ] b (after: a) (agent: x)\n  - [ ] c (after: d)\n  - [ ] d (verify: two)\n- [ ] e (after: nobody)\n- [x] f\n- [ ] g (after: g)\n"))
	must.OK(t, err)
	for name, want := range map[string]string{
		"":     " does [a c d e f g], open [a c d e g], runs [one two], asks 1, next a <nil>",
		"b":    "b does [c d], open [c d], runs [two], asks 1, next d <nil>",
		"2":    "b does [c d], open [c d], runs [two], asks 1, next d <nil>",
		"c":    "c does [c], open [c], runs [], asks 0, next c <nil>",
		"1, 4": "a+d does [a d], open [a d], runs [one two], asks 0, next a <nil>",
		"e":    `e does [e], open [e], runs [], asks 0, next  PLAN.md:5: after: there is no task "nobody"; name one by its text or its number`,
		"f":    "f does [f], open [], runs [], asks 0, next  the task is done already in PLAN.md; open its box first",
		"g":    `g does [g], open [g], runs [], asks 0, next  PLAN.md:7: "g" never has its turn: what it waits for can't be done before it`,
		"z":    `PLAN.md: there is no task "z"; name one by its text or its number`,
		"8":    "PLAN.md: there is no task 8, only 7",
	} {
		texts := func(items []Item) (all []string) {
			for _, it := range items {
				all = append(all, it.Text)
			}
			return all
		}
		one, err := p.Only(name)
		got := fmt.Sprint(err)
		if err == nil {
			chosen := append(one.Chosen(), Item{})[0]
			if len(one.Chosen()) == 2 {
				chosen.Text += "+" + one.NameOf(one.Chosen()[1])
			}
			next, ok := one.Next()
			if !ok {
				err = one.Why()
			}
			got = fmt.Sprintf("%s does %v, open %v, runs %v, asks %d, next %s %v", chosen.Text, texts(one.Tasks()), texts(one.Open()), one.Commands(), len(one.Agents()), next.Text, err)
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", name, got, want)
		}
	}
	b, _ := p.Only("b")
	done := b.Mark(b.Items[2].ID, true).Mark(b.Items[3].ID, true)
	if len(done.Open()) != 0 || len(done.Waits(done.Items[1])) != 1 || done.Waits(done.Items[1])[0].Text != "a" {
		t.Errorf("an edit forgets which task is meant: open %v, waits %v", done.Open(), done.Waits(done.Items[1]))
	}
	without, _ := Parse("PLAN.md", []byte("- [ ] b (after: a) (agent: x)\n  - [ ] c (after: d)\n  - [ ] d (verify: two)\n"))
	if lost := b.Lost(without); len(lost) != 3 || lost[0].Text != "a" {
		t.Errorf("tasks of others were taken out: %v", lost)
	}
}

func TestAPlanIsLookedOverBeforeItIsRun(t *testing.T) {
	p, err := Parse("PLAN.md", []byte("- [x] one\n- [ ] all (agent: ann) (after: one) (after: 4)\n  - [ ] part (verify: make a)\n- [ ] last (after: nothing) (verify: make a)\n"))
	must.OK(t, err)
	want := `PLAN.md: 2 of 3 tasks open
  [x] one
  [ ] all (after: one) (after: 4) (agent: ann)
    [ ] part
  [ ] last (after: nothing)
wrong in line 3: "part" never has its turn: what it waits for can't be done before it
wrong in line 4: after: there is no task "nothing"; name one by its text or its number
its checks would run: make a`
	if got := p.Review(); got != want {
		t.Errorf("got %s", got)
	}
	p, err = Parse("prd.json", []byte(`{"userStories": [{"title": "a (verify: b\nc)", "passes": true}]}`))
	must.OK(t, err)
	if got, want := p.Review(), "prd.json: 0 of 1 tasks open\n  [x] a\nits checks would run: b\\nc"; got != want {
		t.Errorf("got %s", got)
	}
}
