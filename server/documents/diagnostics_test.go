package documents

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// limitKeys lists the keys of [limits], as messages have them.
func limitKeys() string {
	var keys []string
	for _, l := range limits.All() {
		keys = append(keys, l.Key)
	}
	return strings.Join(keys, ", ")
}

// TestDiagnostics has documents with what is to be said about them; « and »
// enclose the places, in the same order.
func TestDiagnostics(t *testing.T) {
	interrupted := withLoop(loop.Status{State: loop.StateInterrupted, Ended: loop.Ended{StopReason: loop.StopInterrupted}, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}})
	failed := withLoop(loop.Status{State: loop.StateFailed, Ended: loop.Ended{StopReason: loop.StopFailures, Error: "500"}, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}})
	driven := withLoop(loop.Status{State: loop.StateRunning})
	noPi := &docWorld{missing: map[string]string{"pi": "npm install pi"}}
	tests := []struct {
		name  string
		uri   uri.URI
		text  string
		world *docWorld
		want  []string
	}{
		{"prompt", promptURI, "Build X", nil, nil},
		{"empty prompt", promptURI, "«» \r\n\t\n", nil, []string{"hint: the prompt is empty: say what the agent should do"}},
		{"state", stateURI, interruptedState, nil, nil},
		{"no front matter", stateURI, "«Build X»\n", nil, []string{`error: the first line is not "---"; a state file starts with "---", its keys, "---", then the prompt`}},
		{"open front matter", stateURI, "«---»\nactive: true\n", nil, []string{`error: the front matter is not closed; put a line of "---" between the keys and the prompt`}},
		{"no prompt", stateURI, "---\nactive: true\n---\n«»", nil, []string{`error: there is no prompt; write it below the second "---"`}},
		{"unknown keys", stateURI, "---\n«max_iteration»: 3 # 😀\n«colour»: 1\n---\nx", nil, []string{
			"warning: max_iteration is not a known key, it is ignored; did you mean max_iterations?",
			"warning: colour is not a known key, it is ignored"}},
		{"unknown key behind astral text", stateURI, "---\nmodel: \"😀\"\n«\"Backend\"» : 1\n---\nx", nil, []string{
			"warning: Backend is not a known key, it is ignored; did you mean backend?"}},
		{"stray line", stateURI, "---\n«hello»\n---\nx", nil, []string{`warning: this line belongs to no key; write "key: value"`}},
		{"wrong type, CRLF", stateURI, "---\r\n«max_iterations: many»\r\n---\r\nx", nil, []string{`error: max_iterations is "many"; write a whole number, 0 or more`}},
		{"bad values and unknown keys", stateURI, "---\n«max_iterations: many»\n«colour»: 1\n«backend_args:»\n  - [a]\n«active: perhaps»\n---\nx", nil, []string{
			`error: max_iterations is "many"; write a whole number, 0 or more`, "warning: colour is not a known key, it is ignored",
			`error: backend_args is not a list of texts; write one per line, after "- " and in quotes`, `error: active is "perhaps"; write true or false`}},
		{"unknown key without a prompt", stateURI, "---\n«colour»: 1\n---\n«»", nil, []string{
			"warning: colour is not a known key, it is ignored", `error: there is no prompt; write it below the second "---"`}},
		{"a key twice", stateURI, "---\nmodel: a\n«model: b»\n«colour»: 1\n---\nx", nil, []string{
			"error: model is already set in line 2; remove one of them", "warning: colour is not a known key, it is ignored"}},
		{"over the limit", stateURI, "---\niteration: «51» # x\nmax_iterations: 50\n---\nx", nil, []string{"warning: iteration 51 is over the limit of 50; raise max_iterations to go on"}},
		{"never ends", stateURI, "---\nmax_iterations: «0»\n---\nx", nil, []string{"warning: without a limit, a promise and a budget hardly anything ends the loop; set one of them"}},
		{"ends by promise", stateURI, "---\nmax_iterations: 0\ncompletion_promise: A\n---\nx", nil, nil},
		{"ends by budget", stateURI, "---\nmax_iterations: 0\nmax_cost_usd: 1\n---\nx", nil, nil},
		{"no budget", stateURI, "---\nmax_iterations: «0»\nmax_cost_usd: 0\n---\nx", nil, []string{"warning: without a limit, a promise and a budget hardly anything ends the loop; set one of them"}},
		{"tags in the promise", stateURI, "---\ncompletion_promise: «\"<promise>A</promise>\"»\n---\nx", nil, []string{"error: completion_promise is the text between the tags; leave out <promise> and </promise>"}},
		{"stale", stateURI, strings.Replace(interruptedState, "active: true", "«active: true»", 1), interrupted, []string{"warning: A Ralph loop was interrupted here at iteration 3/50. Resume or discard it."}},
		{"stale without the key", stateURI, "«---»\niteration: 2\n---\nx", interrupted, []string{"warning: A Ralph loop was interrupted here at iteration 3/50. Resume or discard it."}},
		{"paused on purpose", stateURI, strings.Replace(interruptedState, "true", "false", 1), interrupted, nil},
		{"failed", stateURI, "---\n«active: false»\niteration: 3\n---\nx", failed, []string{
			"warning: A Ralph loop failed here at iteration 3/50: too many failures in a row. The last failure: 500. Resume or discard it."}},
		{"failed, without the key", stateURI, "«---»\niteration: 3\n---\nx", failed, []string{
			"warning: A Ralph loop failed here at iteration 3/50: too many failures in a row. The last failure: 500. Resume or discard it."}},
		{"driven", stateURI, interruptedState, driven, nil},
		{"missing backend", stateURI, "---\nbackend: «pi»\n---\nx", noPi, []string{"warning: pi is not installed: npm install pi"}},
		{"installed backend", stateURI, "---\nbackend: claude\n---\nx", noPi, nil},
		{"too much front matter", stateURI, "«---\n»" + strings.Repeat("key: value\n", 6000) + "---\nx", nil, []string{`error: the front matter has 66000 bytes, more than 65536; is a line of "---" missing above the prompt?`}},
		{"config", configURI, "backend = \"pi\"\n", nil, nil},
		{"config, all at once", configURI, "# 😀\nbackend = «x»\r\n[limits]\n«\"größe 😀\"» = 1\nmax_duration = «4» # h\n", nil, []string{
			"error: expected value but found \"x\" instead",
			"error: limits.größe 😀 is not a known key; known are " + limitKeys(),
			`error: limits.max_duration is a number; write a duration such as "90m" or "4h"`}},
		{"config that never ends", configURI, "limits.max_iterations = «0»", nil, []string{"warning: without a limit, a promise and a budget hardly anything ends the loop; set one of them"}},
		{"hats that don't fit together", configURI, "[hats.plan]\ntriggers = [\"loop.start\"]\n«publishes» = [\"ready\"]\n[hats.build]\n«triggers» = [\"redy\"]\n", nil, []string{
			"warning: hats.plan.publishes has ready, to which no hat listens; plan gets it",
			"warning: hats.build.triggers are published by no hat that works, so nothing wakes build"}},
		{"config with a missing backend", configURI, "backend = «'pi'»\n[hats.a]\nbackend = { type = «\"pi\"» }\n[hats.b]\nbackend = \"claude\"\n", noPi, []string{
			"warning: pi is not installed: npm install pi", "warning: pi is not installed: npm install pi"}},
	}
	severities := map[protocol.DiagnosticSeverity]string{
		protocol.DiagnosticSeverityError: "error: ", protocol.DiagnosticSeverityWarning: "warning: ", protocol.DiagnosticSeverityHint: "hint: ",
	}
	for _, tt := range tests {
		inBoth(t, tt.name, func(t *testing.T, utf8 bool) {
			text, _, ranges := cut(tt.text)
			d := withDoc(tt.uri, text, utf8, tt.world)
			doc := d.get(tt.uri)
			var got []string
			var places, want []protocol.Range
			for _, found := range d.diagnostics(doc) {
				got = append(got, severities[found.Severity]+string(found.Message.(protocol.String)))
				places = append(places, found.Range)
			}
			for _, r := range ranges {
				want = append(want, doc.span(r[0], r[1]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, places); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

// A name that no file has is told at its place.
func TestAnAgentThatNoFileHasIsTold(t *testing.T) {
	dir := filepath.Join(testhome.Place(t, map[string]string{"folder/.pi/agents/scout.md": "---\nname: scout\ndescription: finds\n---\nYou find.\n"}), "folder")
	text, _, ranges := cut("[iteration]\nsteps = [{ agent = \"scout\" }, { parallel = [{ agent = «\"scuot\"» }, { agent = \"scout\" }] }, { agent = «'cook'» }]\n")
	u := uri.File(filepath.Join(dir, "ralph.toml"))
	d := withDoc(u, text, true, nil)
	doc := d.get(u)
	want := []string{`there is no agent "scuot": did you mean scout? known are scout`, `there is no agent "cook": known are scout`}
	for i, found := range d.diagnostics(doc) {
		if i >= len(want) || string(found.Message.(protocol.String)) != want[i] || found.Range != doc.span(ranges[i][0], ranges[i][1]) || found.Severity != protocol.DiagnosticSeverityWarning {
			t.Errorf("%d: %+v", i, found)
		}
	}
	if n := len(d.diagnostics(doc)); n != len(want) {
		t.Errorf("%d are told", n)
	}
}

func TestDifference(t *testing.T) {
	tests := []struct{ name, from, to string }{
		{"nothing", "abc", "abc"},
		{"at the end", "abc", "abcd"},
		{"at the start", "bc", "abc"},
		{"in the middle", "abd", "abcd"},
		{"all", "abc", "xyz"},
		{"repeated", "aa", "aaa"},
		{"inside a character", "€x", "₮x"},
		{"characters that end alike", "xé", "xĩ"},
		{"line ends", "a\r\nb\r\n", "a\r\nc\r\nb\r\n"},
		{"another line end", "a\r\nb", "a\nb"},
	}
	for _, tt := range tests {
		inBoth(t, tt.name, func(t *testing.T, utf8 bool) {
			doc := &document{textIndex: newTextIndex(tt.from, utf8)}
			action, _ := doc.action(fix{"x", difference(tt.from, tt.to)}, "")
			if got := apply(t, doc, action.Edit.Changes[""]...); got != tt.to {
				t.Errorf("%q, want %q", got, tt.to)
			}
		})
	}
}
