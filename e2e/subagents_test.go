//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// work is what a run told of agents that its agent had work.
type work struct {
	titles map[string]string // of the calls that have agents work, by id
	above  map[string]string // the call that one is below
	does   map[string]string // the titles of the tools below a call
	says   map[string]string // the text below it
	ends   map[string]string // how it ended, with what was used
}

// workOf reads what p told.
func workOf(t *testing.T, p *program) work {
	t.Helper()
	w := work{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for _, u := range p.all() {
		var e struct {
			ToolCallID, Title, Status, Facts string
			Parent                           string `json:"parentToolCallId"`
			Subagent                         *struct{ Agent, Task string }
			Content                          json.RawMessage
			Spent                            *struct {
				CostUSD     *float64
				TotalTokens int64
			}
		}
		must.OK(t, json.Unmarshal([]byte(u.line), &e))
		switch u.SessionUpdate {
		case "tool_call":
			if e.Subagent != nil {
				w.titles[e.ToolCallID] = e.Title
				w.above[e.ToolCallID] = e.Parent
			} else if e.Parent != "" {
				w.does[e.Parent] += e.Title + "; "
			}
		case "agent_message_chunk":
			var text struct{ Text string }
			must.OK(t, json.Unmarshal(e.Content, &text))
			w.says[e.Parent] += text.Text
		case "tool_call_update":
			if _, isAgent := w.titles[e.ToolCallID]; isAgent && e.Status != "in_progress" {
				w.ends[e.ToolCallID] = e.Status
				if e.Spent != nil && e.Spent.TotalTokens > 0 && strings.Contains(e.Facts, " tokens") {
					w.ends[e.ToolCallID] += " with tokens"
				}
				if e.Spent != nil && e.Spent.CostUSD != nil && strings.Contains(e.Facts, "$") {
					w.ends[e.ToolCallID] += " and cost"
				}
			}
		}
	}
	return w
}

// below lists the calls that have agents work below a call, by their titles.
func (w work) below(parent string) (titles, ids []string) {
	for id, above := range w.above {
		if above == parent {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(w.titles[a], w.titles[b]) })
	for _, id := range ids {
		titles = append(titles, w.titles[id])
	}
	return titles, ids
}

// lookers are the model's part of agents that look for things: each runs a tool and
// answers.
func lookers(a agent, things ...string) (turns []fakemodel.Turn) {
	usage := &fakemodel.Usage{Input: 1000, Output: 100}
	for _, thing := range things {
		turns = append(turns,
			fakemodel.Turn{Match: "Look for " + thing, Steps: []fakemodel.Step{fakemodel.Say("Looking for " + thing + "."), a.bash("echo output-" + thing)}, Usage: usage},
			fakemodel.Turn{Match: "output-" + thing, Text: "There is " + thing + ".", Usage: usage})
	}
	return turns
}

// TestPisSubagentsAreShown runs pi with its own example of a subagent tool.
func TestPisSubagentsAreShown(t *testing.T) {
	task := func(thing string) map[string]string {
		return map[string]string{"agent": "scout", "task": "Look for " + thing}
	}
	for _, test := range []struct {
		name    string
		call    map[string]any
		title   string
		steps   []string          // the calls below it, by title
		says    map[string]string // what is said below each, by title
		isAlone bool              // the agent works right below the call
	}{
		{"single", map[string]any{"agent": "scout", "task": "Look for one"}, "scout: Look for one", nil, nil, true},
		{"parallel", map[string]any{"tasks": []any{task("one"), task("two")}}, "2 agents: scout, scout",
			[]string{"scout: Look for one", "scout: Look for two"},
			map[string]string{"scout: Look for two": "Looking for two.There is two."}, false},
		{"chain", map[string]any{"chain": []any{task("one"), map[string]string{"agent": "scout", "task": "Look for two, as {previous}"}}}, "2 agents in a row: scout, scout",
			[]string{"scout 1/2: Look for one", "scout 2/2: Look for two, as There is one."},
			map[string]string{"scout 2/2: Look for two, as There is one.": "Looking for two.There is two."}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turns := append([]fakemodel.Turn{{Match: prompt, Steps: []fakemodel.Step{fakemodel.Call("subagent", test.call)}}}, lookers(pi, "one", "two")...)
			p := prepare(t, pi, fakemodel.Script{Turns: append(turns, says("All done. <promise>DONE</promise>"))})
			scout := filepath.Join(p.box.Home, ".pi", "agent", "agents", "scout.md")
			must.Write(t, scout, "---\nname: scout\ndescription: looks for things\n---\nYou look for things.\n")
			example := filepath.Join(installed.BinDir(pi.pin), "..", "@earendil-works", "pi-coding-agent", "examples", "extensions", "subagent", "index.ts")
			p.start("--backend-arg", "-e", "--backend-arg", example, "--max-iterations", "1", "--completion-promise", "DONE", prompt)
			if code := p.wait(); code != exitDone {
				p.fatalf("exit code %d", code)
			}
			w := workOf(t, p)
			titles, ids := w.below("")
			if !slices.Equal(titles, []string{test.title}) {
				p.fatalf("it has %q work", titles)
			}
			if got := w.ends[ids[0]]; got != "completed with tokens and cost" {
				t.Errorf("it ends as %q", got)
			}
			if test.isAlone && (w.says[ids[0]] != "Looking for one.There is one." || w.does[ids[0]] != "echo output-one; ") {
				t.Errorf("it says %q and does %q", w.says[ids[0]], w.does[ids[0]])
			}
			steps, below := w.below(ids[0])
			if !slices.Equal(steps, test.steps) {
				p.fatalf("below it are %q", steps)
			}
			for i, id := range below {
				if got := w.ends[id]; got != "completed with tokens and cost" {
					t.Errorf("%s ends as %q", steps[i], got)
				}
				if want := test.says[steps[i]]; want != "" && w.says[id] != want {
					t.Errorf("%s says %q", steps[i], w.says[id])
				}
			}
		})
	}
}

// TestClaudesAgentsAreShown has claude's own agent work, which goes on in the background.
func TestClaudesAgentsAreShown(t *testing.T) {
	call := fakemodel.Call("Agent", map[string]string{"description": "Find one", "prompt": "Look for one", "subagent_type": "general-purpose"})
	turns := append([]fakemodel.Turn{{Match: prompt, Steps: []fakemodel.Step{call}}}, lookers(claude, "one")...)
	p := prepare(t, claude, fakemodel.Script{Turns: append(turns, fakemodel.Turn{Text: "All done. <promise>DONE</promise>", Repeat: -1})})
	p.start("--backend-arg", "--allowedTools=Bash,Agent", "--max-iterations", "1", "--completion-promise", "DONE", prompt)
	if code := p.wait(); code != exitDone {
		p.fatalf("exit code %d", code)
	}
	w := workOf(t, p)
	titles, ids := w.below("")
	if !slices.Equal(titles, []string{"general-purpose: Find one"}) {
		p.fatalf("it has %q work", titles)
	}
	if got := w.ends[ids[0]]; got != "completed with tokens" {
		t.Errorf("it ends as %q", got)
	}
	if w.says[ids[0]] != "Looking for one.There is one." || w.does[ids[0]] != "echo output-one; " {
		t.Errorf("it says %q and does %q", w.says[ids[0]], w.does[ids[0]])
	}
}
