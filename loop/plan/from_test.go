package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestTasksOfOtherProgramsBecomeAPlan(t *testing.T) {
	for name, want := range map[string]string{
		"ralphex.md": `PLAN.md: 3 of 4 tasks open
  [x] Task 1: Greet a name
  [ ] Task 2: Greet many
  [ ] Task 3
  [ ] Task: unboxed
checks: go test ./...; go vet ./...
Task 1: Greet a name: > **Files:** | > - Create: ` + "`greet.go`" + ` | > - [x] add Greet ( verify: touch evil) | > - [x] test it
Task 2: Greet many: > - [x] take several names | > ` + "```sh | > # not a heading | > ```" + ` | > - [ ] test them | > - [ ] with none
Task 3: > - [ ] describe it <! -- open | > - [x] show it
Task: unboxed: 
`,
		"issues.jsonl": `PLAN.md: 3 of 4 tasks open
  [ ] bd-3: Fix it ( verify: touch evil)
  [ ] bd-2: Read strings (after: bd-1:)
  [x] bd-1: Read numbers
  [ ] bd-10: The parser (after: bd-2:)
checks: 
bd-3: Fix it ( verify: touch evil): 
bd-2: Read strings: 
bd-1: Read numbers: > Decimal ones. | > - [ ] with a sign | > ` + "```" + `
bd-10: The parser: 
`,
		"ralph-tasks.md": `ralph-tasks.md: 2 of 3 tasks open
  [ ] Begin
    [x] first
    [ ] second
  [ ] Go on
checks: 
Begin: 
first: 
second: 
Go on: 
`,
	} {
		data := must.Read(t, "testdata/"+name)
		p, checks, err := From(name, data)
		got := p.Review() + "\nchecks: " + strings.Join(checks, "; ") + "\n"
		for _, it := range p.Items {
			got += it.Text + ": " + strings.ReplaceAll(it.More, "\n", " | ") + "\n"
		}
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

func TestWhatIsAPlanAlreadyStaysAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"TODO.md":  "## Tasks\n\n- [ ] a (verify: b)\n",
		"prd.json": `{"userStories": [{"id": "US-1", "title": "a"}, {"id": "US-10", "title": "b"}, {"title": "c", "dependsOn": ["US-1"]}]}`,
	} {
		p, checks, err := From(name, []byte(text))
		if err != nil || string(p.Data) != text || len(checks) > 0 {
			t.Errorf("%s: got %q, %q, %v", name, p.Data, checks, err)
		}
		if name == "prd.json" && (len(p.Problems) > 0 || len(p.Waits(p.Items[2])) != 1 || p.Waits(p.Items[2])[0].Text != "US-1: a") {
			t.Errorf("the third story waits for %v: %v", p.Waits(p.Items[2]), p.Problems)
		}
	}
}

// A prd.json may name commands for all of its stories: a list, or an object.
func TestCommandsOfAPRDAreTold(t *testing.T) {
	for commands, want := range map[string]string{
		`{"test": "npm test", "lint": "npm run lint"}`: "npm run lint && npm test",
		`["npm test", "npm run lint"]`:                 "npm test && npm run lint",
		`{"test": ["npm test"]}`:                       "",
		`["npm test", 1]`:                              "",
		`"npm test"`:                                   "",
	} {
		text := "\uFEFF" + `{"verificationCommands": ` + commands + `, "userStories": [{"title": "a"}]}`
		p, checks, err := From("prd.json", []byte(text))
		if got := strings.Join(checks, " && "); err != nil || got != want || string(p.Data) != text || len(p.Commands()) > 0 {
			t.Errorf("%s: got %q, %v, and the plan runs %q", commands, got, err, p.Commands())
		}
	}
}

func TestTasksThatCantBeAPlan(t *testing.T) {
	waits := func(id, other string) string {
		return fmt.Sprintf(`{"id":%q,"title":"t","dependencies":[{"depends_on_id":%q,"type":"blocks"}]}`+"\n", id, other)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a.jsonl", waits("a", "b") + waits("b", "a"), `a.jsonl: "a: t" never has its turn`},
		{"a.jsonl", waits("a", "b"), "a.jsonl: a waits for b, which isn't there; bd export writes all issues"},
		{"a.jsonl", `{"id":"a","title":"t"}` + "\n" + `{"id":"a","title":"u"}`, "a.jsonl:2: the issue a is there twice"},
		{"a.jsonl", `{"id":"a","title":"t","status":"tombstone"}` + "\n" + `{"id":"a","title":"u"}`, "a.jsonl:2: the issue a is there twice"},
		{"a.jsonl", "\n{\"id\":\"a\"}\n", "a.jsonl:2: this is no issue of beads"},
		{"a.jsonl", "{\"title\":\"a\"}\n", "a.jsonl:1: this is no issue of beads"},
		{"a.jsonl", "<<<<<<< HEAD\n", "a.jsonl:1: this is no issue of beads"},
		{"a.jsonl", " \n", "a.jsonl has no issue; bd export writes them"},
		{"A.JSONL", strings.Repeat(" ", MaxBytes+1), "A.JSONL has more than 1 MiB"},
		{"a.md", strings.Repeat("## Task\n", MaxBytes/8+1), "a.md has more than 1 MiB"},
		{"a.md", strings.Repeat("## Task\n", MaxItems+1), "more than 500 tasks"},
		{"a.md", "## Task list\n\n## Tasks\n\n#### Task 1\n", "a.md has no task"},
		{"a.json", "[", "a.json:1: it isn't JSON"},
	} {
		if _, _, err := From(tt.name, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
