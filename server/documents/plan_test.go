package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const planURI = uri.URI("file:///w/PLAN.md")

// inPlan is a folder whose user's settings name a plan, with a hat that may do its tasks.
func inPlan(name string) *docWorld {
	w := &docWorld{}
	w.plans.Settings.Files = config.FilesOf("/w", backends.Names())
	w.plans.Settings.Files.Trusted = true
	w.plans.Settings.Loop.Plan = name
	var critic config.Hat
	critic.Description = "Looks for mistakes."
	w.plans.Settings.Hats = map[string]config.Hat{"critic": critic}
	return w
}

// afterLoop is such a folder with a loop that did some of it.
func afterLoop(state loop.State) *docWorld {
	s := loop.Status{LoopID: "a", Folder: "/w", Plan: "PLAN.md", State: state, Ended: loop.Ended{StopReason: loop.StopMaxIterations}, Iteration: 4, Limits: loop.Limits{MaxIterations: 9},
		Session: stream.SessionStart{Backend: "pi"}, Tasks: plan.Book{Accepted: []string{"make"}}}
	w := withLoop(s)
	w.plans = Plans{Loop: s, Deeds: map[string]Deed{"one": {Iteration: 2, Cost: stream.USD(0.12)}, "by a hat": {Iteration: 3}, "open": {Iteration: 4}}}
	return w
}

// linesOf shows lenses or actions with the line that each is on.
func linesOf(lenses []protocol.CodeLens) (all []string) {
	for _, lens := range lenses {
		all = append(all, fmt.Sprintf("%d %s: %s %s", lens.Range.Start.Line+1, lens.Command.Title, lens.Command.Command, lens.Command.Arguments[0]))
	}
	return all
}

func TestLensesOfAPlan(t *testing.T) {
	whole := []string{
		`1 Run Ralph loop: ralph.loop.start {"folder":"file:///w","plan":"PLAN.md"}`,
		`1 Dry run: ralph.loop.start {"folder":"file:///w","plan":"PLAN.md","dryRun":true}`,
	}
	text := "# A\n- [ ] group\n  - [x] one\n  - [ ] same\n- [ ] same\n- [x] by a hat (agent: critic)\n"
	p, _ := plan.Parse("PLAN.md", []byte(text))
	run := func(line int, name string) string {
		return fmt.Sprintf(`%d Run this: ralph.loop.start {"folder":"file:///w","plan":"PLAN.md","task":%q}`, line, name)
	}
	mark := func(line int, title string, n int, done bool) string {
		return fmt.Sprintf(`%d %s: ralph.plan.mark {"folder":"file:///w","uri":"file:///w/PLAN.md","task":%q,"done":%v}`, line, title, p.Items[n-1].ID, done)
	}
	did := func(line int, title string, n int) string {
		return fmt.Sprintf(`%d %s: ralph.loop.changes {"loopId":"a","folder":"file:///w","from":%d,"to":%d,"show":true}`, line, title, n-1, n)
	}
	fresh := []string{run(2, "group"), mark(3, "Open again", 2, false), run(4, "same"), mark(4, "Skip", 3, true), run(5, "4"), mark(5, "Skip", 4, true), mark(6, "Open again", 5, false)}
	for name, tt := range map[string]struct {
		world *docWorld
		want  []string
	}{
		"of nobody":       {&docWorld{}, nil},
		"of another file": {inPlan("docs/PLAN.md"), nil},
		"of the settings": {inPlan("PLAN.md"), append(slices.Clone(whole), fresh...)},
		"by a path":       {inPlan("/w/PLAN.md"), append(slices.Clone(whole), fresh...)},
		"while a loop runs": {afterLoop(loop.StateRunning), []string{
			`1 4/9 · Cancel: ralph.loop.cancel {"loopId":"a","folder":"file:///w"}`, `1 Pause: ralph.loop.pause {"loopId":"a","folder":"file:///w"}`,
			did(3, "done in iteration 2 · pi · $0.12", 2), mark(3, "Open again", 2, false), mark(4, "Skip", 3, true), mark(5, "Skip", 4, true),
			did(6, "done in iteration 3 · critic", 3), mark(6, "Open again", 5, false)}},
	} {
		t.Run(name, func(t *testing.T) {
			d := withDoc(planURI, text, false, tt.world)
			if diff := cmp.Diff(tt.want, linesOf(d.lenses(d.get(planURI)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var titles, want []string
			at := protocol.Range{Start: protocol.Position{Line: 4, Character: 3}, End: protocol.Position{Line: 4, Character: 3}}
			for _, a := range d.CodeAction(protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: planURI}, Range: at}) {
				titles = append(titles, "5 "+a.Title+": ")
			}
			for _, line := range tt.want {
				if title, ok := strings.CutPrefix(line, "5 "); ok {
					want = append(want, "5 Ralph: "+title[:strings.Index(title, ":")+2])
				}
			}
			if diff := cmp.Diff(want, titles); diff != "" {
				t.Errorf("the actions of its line (-want +got):\n%s", diff)
			}
		})
	}
	d := withDoc("file:///w/prd.json", `{"userStories": [{"title": "a", "passes": false}]}`, false, inPlan("prd.json"))
	if got := linesOf(d.lenses(d.get("file:///w/prd.json"))); len(got) != 4 || !strings.HasPrefix(got[3], "1 Skip: ") {
		t.Errorf("a prd.json has %q", got)
	}
}

// answering is an editor that says what it did with an edit, and takes down which.
type answering struct {
	docEditor
	edit   *protocol.ApplyWorkspaceEditParams
	answer string
}

func (e *answering) Request(_ context.Context, method string, params, result any) error {
	e.tell(method)
	e.edit = params.(*protocol.ApplyWorkspaceEditParams)
	return json.Unmarshal([]byte(e.answer), result)
}

func TestABoxIsChangedInTheEditor(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"- [ ] 😀 a\n- [x] b\n  - [x] c\n", "0:3 0:4 x"},
		{"- [x] a\n", "0:3 0:4  "},
	} {
		d := withDoc(planURI, tt.text, false, inPlan("PLAN.md"))
		ed := &answering{answer: `{"applied": true}`}
		d.ed = ed
		p, _ := plan.Parse("PLAN.md", []byte(tt.text))
		got, err := d.Mark(t.Context(), wire.MarkParams{URI: string(planURI), Task: p.Items[0].ID, Done: tt.text[3] == ' '})
		if err != nil || got != struct{}{} {
			t.Fatal(got, err)
		}
		edits := ed.edit.Edit.Changes[planURI]
		if len(edits) != 1 {
			t.Fatalf("%d edits", len(edits))
		}
		r := edits[0].Range
		if at := fmt.Sprintf("%d:%d %d:%d %s", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character, edits[0].NewText); at != tt.want {
			t.Errorf("%q is edited at %s", tt.text, at)
		}
		if got, err := d.Mark(t.Context(), wire.MarkParams{URI: string(planURI), Task: p.Items[0].ID, Done: tt.text[3] != ' '}); err != nil || got != struct{}{} || len(ed.told) != 1 {
			t.Errorf("nothing is to be changed: %v, %v, %q", got, err, ed.told)
		}
		for what, p := range map[string]wire.MarkParams{"no such task": {URI: string(planURI), Task: "x"}, "no document": {URI: "file:///w/other.md", Task: p.Items[0].ID}} {
			if got, err := d.Mark(t.Context(), p); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v, %v", what, got, err)
			}
		}
	}
	d := withDoc(planURI, "- [ ] a\n", false, inPlan("PLAN.md"))
	d.ed = &answering{answer: `{"applied": false, "failureReason": "read-only"}`}
	p, _ := plan.Parse("PLAN.md", []byte("- [ ] a\n"))
	if _, err := d.Mark(t.Context(), wire.MarkParams{URI: string(planURI), Task: p.Items[0].ID, Done: true}); err == nil || err.Error() != "the editor doesn't change PLAN.md: read-only" {
		t.Errorf("got %v", err)
	}
	d = withDoc(planURI, "- [ ] a\n", false, nil)
	if got, err := d.Mark(t.Context(), wire.MarkParams{URI: string(planURI), Task: "a"}); err == nil {
		t.Errorf("a file that is no plan is changed: %v", got)
	}
}

func TestWhatIsWrongWithAPlan(t *testing.T) {
	asking := inPlan("PLAN.md")
	asking.plans.Settings.Files.Trusted = false
	for name, tt := range map[string]struct {
		world *docWorld
		text  string
		want  string
	}{
		"no plan":       {&docWorld{}, "- [ ] a (after: b)\n", ""},
		"nothing":       {inPlan("PLAN.md"), "- [ ] a (verify: make)\n", ""},
		"no task":       {inPlan("PLAN.md"), "# A\n", "1 warning: PLAN.md has no task; write each as a line \"- [ ] what is to be done\"\n"},
		"what it waits": {inPlan("PLAN.md"), "\n- [ ] a (after: b)\n", "2 warning: after: there is no task \"b\"; name one by its text or its number\n"},
		"agents":        {inPlan("PLAN.md"), "- [ ] a (agent: critic)\n- [x] b (agent: nobody)\n", "2 warning: (agent: nobody): there is no agent \"nobody\": "},
		"untrusted":     {asking, "- [ ] a (verify: make)\n", "1 warning: you haven't accepted the command \"make\" yet: a start asks you, or ralph-lsp trust\n"},
		"while a loop runs": {afterLoop(loop.StateRunning), "- [ ] a (verify: make)\n- [ ] b (verify: evil)\n",
			"2 information: the loop doesn't run \"evil\" yet: it asks you about a check that it finds behind an iteration\n"},
		"of a loop that ended": {afterLoop(loop.StateEnded), "- [ ] b (verify: evil)\n", ""},
	} {
		d := withDoc(planURI, tt.text, false, tt.world)
		got := ""
		for _, found := range d.diagnostics(d.get(planURI)) {
			severity := map[protocol.DiagnosticSeverity]string{protocol.DiagnosticSeverityWarning: "warning", protocol.DiagnosticSeverityInformation: "information"}[found.Severity]
			got += fmt.Sprintf("%d %s: %s\n", found.Range.Start.Line+1, severity, found.Message)
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: got  %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestHoverInAPlan has documents with the cursor as ‸ and the hover's range between « and ».
func TestHoverInAPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		world *docWorld
		want  string
	}{
		"no plan":       {"- [ ] a‸", &docWorld{}, ""},
		"the next one":  {"«- [ ] a‸ (verify: make)»\n", nil, "**Task 1**: open, and the next one\n\nIt is done when this passes:\n\n```text\nmake\n```"},
		"one behind it": {"- [ ] a\n«- [‸ ] b»", nil, "**Task 2**: open"},
		"one that waits": {"- [ ] a\n- [ ] b\n«- [ ] c‸ (after: a) (after: 2) (agent: critic)»", nil,
			"**Task 3**: open, waits for a · b\n\nIts agent: critic"},
		"done":           {"«- [x] a‸»", nil, "**Task 1**: done"},
		"by a loop":      {"«- [x] one‸»", afterLoop(loop.StateEnded), "**Task 1**: done in iteration 2 · pi · $0.12"},
		"opened since":   {"«- [ ] one‸»", afterLoop(loop.StateEnded), "**Task 1**: open, and the next one"},
		"an agent":       {"- [ ] a 😀 «(Agent: cri‸tic)»", nil, "Looks for mistakes."},
		"nobody":         {"«- [ ] a (agent: no‸body)»", nil, "**Task 1**: open, and the next one\n\nIts agent: nobody"},
		"in a line more": {"- [ ] a\n  «(agent: crit‸ic)»", nil, "Looks for mistakes."},
		"another task":   {"- [x] first\n- [ ] b «(after: fi‸)»", nil, "Task 1, done: first"},
		"others":         {"- [x] a\n- [ ] b\n- [ ] c «(after: 1, 2‸)»", nil, "Task 1, done: a\n\nTask 2, open: b"},
		"none":           {"- [ ] c «(after: x‸)»", nil, `PLAN.md: there is no task "x"; name one by its text or its number`},
		"a heading":      {"# A‸\n- [ ] b", nil, ""},
	} {
		inBoth(t, name, func(t *testing.T, utf8 bool) {
			text, cursor, ranges := cut(tt.text)
			world := tt.world
			if world == nil {
				world = inPlan("PLAN.md")
			}
			d := withDoc(planURI, text, utf8, world)
			p := protocol.HoverParams{}
			p.TextDocument.URI, p.Position = planURI, d.get(planURI).position(cursor)
			hover := d.Hover(p)
			if hover == nil {
				if tt.want != "" {
					t.Fatal("no hover")
				}
				return
			}
			if got := hover.Contents.(*protocol.MarkupContent).Value; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if want := d.get(planURI).span(ranges[0][0], ranges[0][1]); *hover.Range != want {
				t.Errorf("range %+v, want %+v", *hover.Range, want)
			}
		})
	}
}

func TestCompletionInAPlan(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		must.Write(t, filepath.Join(dir, name), text)
	}
	write(".claude/agents/scout.md", "---\nname: scout\ndescription: Looks around.\n---\nLook.\n")
	world := inPlan("PLAN.md")
	world.plans.Settings.Verify.Shell = "make test"
	plain := "- [ ] first (verify: make)\n- [ ] same\n- [ ] same\n"
	for text, want := range map[string]string{
		plain + "- [ ] a (agent: ‸)":      `[" critic" Looks for mistakes. " scout" Looks around.]`,
		plain + "- [ ] a (agent:cr‸":      `[" critic" Looks for mistakes. " scout" Looks around.]`,
		plain + "- [ ] a (after: fi‸)":    `[" first" task 1 " same" task 2 " 3" task 3]`,
		plain + "- [ ] a\n  (Verify: m‸)": `[" make"  " make test" ]`,
		plain + "- [ ] a (agent: x) ‸":    `[]`,
		plain + "- [ ] a ‸":               `[]`,
	} {
		text, cursor, _ := cut(text)
		u := uri.URI(wire.FileURI(filepath.Join(dir, "PLAN.md")))
		d := withDoc(u, text, false, world)
		p := protocol.CompletionParams{}
		p.TextDocument.URI, p.Position = u, d.get(u).position(cursor)
		all := []string{}
		for _, it := range d.Completion(p).Items {
			edit := it.TextEdit.(*protocol.TextEdit)
			detail, _ := it.Detail.Get()
			all = append(all, fmt.Sprintf("%q %s", edit.NewText, detail))
			if from, to := d.get(u).offsets(edit.Range); text[from-1] != ':' || to != cursor {
				t.Errorf("%q replaces %q", edit.NewText, text[from:to])
			}
		}
		if got := fmt.Sprint(all); got != want {
			t.Errorf("%q: got %s, want %s", text[len(plain):], got, want)
		}
	}
}

func TestATaskFoldsWithWhatIsBelowIt(t *testing.T) {
	const text = "# A\n- [ ] a\n  more\n  - [ ] b\n    x\n\n  - [ ] c\n\n- [ ] d\n# B\n"
	fold := func(file uri.URI, text string, world *docWorld) (all []string) {
		d := withDoc(file, text, false, world)
		for _, r := range d.FoldingRange(protocol.FoldingRangeParams{TextDocument: protocol.TextDocumentIdentifier{URI: file}}) {
			all = append(all, fmt.Sprintf("%d-%d", r.StartLine+1, r.EndLine+1))
		}
		return all
	}
	if got := fold(planURI, text, inPlan("PLAN.md")); !slices.Equal(got, []string{"2-7", "4-5"}) {
		t.Errorf("got %q", got)
	}
	const stories = "{\n  \"userStories\": [\n    {\n      \"title\": \"a\"\n    },\n    {\"title\": \"b\"}\n  ]\n}\n"
	if got := fold("file:///w/prd.json", stories, inPlan("prd.json")); !slices.Equal(got, []string{"3-4"}) {
		t.Errorf("stories fold at %q", got)
	}
	if got := fold(planURI, text, nil); got != nil {
		t.Errorf("a file that is no plan folds at %q", got)
	}
}

// Other Markdown files are left alone: nothing is said of them that would replace what others say.
func TestWhichMarkdownFilesAreToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &docEditor{client: client.Info{CodeLensRefresh: true}}
		world := &docWorld{}
		d := New(ed, world)
		bad := "- [ ] a (after: b)\n"
		d.DidOpen(opened(planURI, bad))
		d.DidClose(closed(planURI))
		d.DidOpen(opened(planURI, bad))
		if got := ed.heard(); got != nil {
			t.Errorf("of a README is told %q", got)
		}
		world.plans.Loop.Plan = "PLAN.md"
		d.Republish("/w")
		if diff := cmp.Diff([]string{`PLAN.md v1 ["after: there is no task \"b\"; name one by its text or its number"]`, "workspace/codeLens/refresh"}, ed.heard()); diff != "" {
			t.Errorf("when a loop has it as its plan (-want +got):\n%s", diff)
		}
		d.DidChange(changed(planURI, 2, "- [ ] a\n"))
		mended := ed.heard()
		d.DidClose(closed(planURI))
		if diff := cmp.Diff([]string{"PLAN.md v2 []", "PLAN.md v0 []"}, append(mended, ed.heard()...)); diff != "" {
			t.Errorf("when that is mended (-want +got):\n%s", diff)
		}
		world.plans = Plans{}
		time.Sleep(plansFor)
		d.DidOpen(opened(planURI, bad))
		d.DidOpen(opened(configURI, ""))
		ed.heard()
		world.plans.Settings.Loop.Plan = "PLAN.md"
		d.DidSave(protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: configURI}})
		if got := ed.heard(); len(got) != 2 || !strings.HasPrefix(got[0], "PLAN.md v1 [\"after") {
			t.Errorf("when ralph.toml names it: %q", got)
		}
	})
}

// Editors ask much with each change of a Markdown file. Whether it is a plan is looked up once in a moment, and again
// when its folder's loop has changed.
func TestWhetherAFileIsAPlanIsLookedUpOnceInAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &docWorld{}
		d := withDoc(planURI, "- [ ] one\n", false, w)
		lenses := func() int { return len(d.lenses(d.get(planURI))) }
		looked := func(when string, asked int, isPlan bool) {
			t.Helper()
			for range 5 {
				if got := lenses() > 0; got != isPlan {
					t.Errorf("%s: it is a plan: %v", when, got)
				}
			}
			if w.asked != asked {
				t.Errorf("%s: it was looked up %d times, want %d", when, w.asked, asked)
			}
		}
		looked("at first", 1, false)
		w.plans = inPlan("PLAN.md").plans
		looked("in the same moment", 1, false)
		time.Sleep(plansFor)
		looked("a moment later", 2, true)
		w.plans = Plans{}
		d.Republish("/w")
		synctest.Wait()
		looked("when its loop has changed", 3, false)
	})
}
