package documents

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// knownAs are the known agents, each in a form.
func knownAs(form string) string {
	var words []string
	for _, name := range backends.Names() {
		words = append(words, strings.ReplaceAll(form, "%s", name))
	}
	return strings.Join(words, " ")
}

// topSettings are the settings that are in no table of a config.
func topSettings() string {
	var names []string
	for _, s := range settings.All() {
		if !strings.Contains(s.Key, ".") {
			names = append(names, s.Key)
		}
	}
	return strings.Join(names, " ")
}

// sortKey is by what an editor sorts a completion.
func sortKey(item protocol.CompletionItem) string {
	if text, ok := item.SortText.Get(); ok {
		return text
	}
	return item.Label
}

// TestCompletion has documents with the cursor as ‸, some of the labels that
// are offered and that aren't, and what the text is when one is taken.
func TestCompletion(t *testing.T) {
	tests := []struct {
		name     string
		uri      uri.URI
		text     string
		offered  string // of all, in the order in which an editor shows them
		take     string // the label that is taken
		becoming string
	}{
		{"prompt", promptURI, "act‸", "", "", ""},
		{"key of a state file", stateURI, "---\nmodel: \"😀\"\nmax_‸\n---\nx", "active iteration max_iterations", "max_iterations", "---\nmodel: \"😀\"\nmax_iterations: 50\n---\nx"},
		{"empty line", stateURI, "---\nactive: true\n‸\n---\nx", "iteration max_iterations completion_promise", "hat", "---\nactive: true\nhat: \n---\nx"},
		{"open front matter", stateURI, "---\nact‸", "active iteration", "active", "---\nactive: true"},
		{"key with a value", stateURI, "---\n‸max_iter: 3\n---\nx", "active", "max_iterations", "---\nmax_iterations: 3\n---\nx"},
		{"fence", stateURI, "---\nhat: a\n‸---\nx", "", "", ""},
		{"body", stateURI, "---\nhat: a\n---\nact‸", "", "", ""},
		{"switch", stateURI, "---\nactive: ‸\n---\nx", "true false", "false", "---\nactive: false\n---\nx"},
		{"no blank yet", stateURI, "---\nactive:‸\n---\nx", "true false", "true", "---\nactive: true\n---\nx"},
		{"in a value", stateURI, "---\nactive: tr‸ue # 😀\n---\nx", "true false", "false", "---\nactive: false # 😀\n---\nx"},
		{"backend", stateURI, "---\r\nbackend: ‸\r\n---\r\nx", knownAs(`"%s"`), `"pi"`, "---\r\nbackend: \"pi\"\r\n---\r\nx"},
		{"promise", stateURI, "---\ncompletion_promise: ‸\n---\nx", `"DONE" null`, "null", "---\ncompletion_promise: null\n---\nx"},
		{"duration", stateURI, "---\nmax_duration: \"‸\"\n---\nx", `"4h" "1h" "90m"`, `"90m"`, "---\nmax_duration: \"90m\"\n---\nx"},
		{"comment", stateURI, "---\n# ‸\n---\nx", "", "", ""},
		{"behind a value", stateURI, "---\nhat: a ‸\n---\nx", "", "", ""},
		{"key of a config", configURI, "[limits]\nmax_iterations = 3\nmax_‸", "max_cost_usd max_duration idle_timeout tool_timeout max_consecutive_failures max_unchanged_iterations max_unknown_cost_runs [budget] [iteration] [completion] [verify] [loop] [sandbox] [history] [changes] [worktree] [land] [notify] [backends. [hats. " + knownAs("[backends.%s]"), "idle_timeout", "[limits]\nmax_iterations = 3\nidle_timeout = \"10m\""},
		{"top of a config", configURI, "‸\n[limits]\n", "backend " + topSettings() + " prompt_file fallback [budget] [iteration] [completion] [verify] [loop] [sandbox] [history] [changes] [worktree] [land] [notify] [backends. [hats. " + knownAs("[backends.%s]"), "[completion]", "[completion]\n[limits]\n"},
		{"header", configURI, "[li‸", "limits] budget] iteration] completion] verify] loop] sandbox] history] changes] worktree] land] notify] backends. hats.", "limits]", "[limits]"},
		{"closed header", configURI, "[li‸]", "limits budget iteration completion verify loop sandbox history changes worktree land notify backends hats", "limits", "[limits]"},
		{"header's second part", configURI, "[backends.pi]\n[backends.‸]", "claude", "claude", "[backends.pi]\n[backends.claude]"},
		{"own name", configURI, "[hats.‸]", "", "", ""},
		{"backend of a config", configURI, "backend = \"‸", `"auto" ` + knownAs(`"%s"`), `"pi"`, "backend = \"pi\""},
		{"no blank in a config", configURI, "backend =‸", `"auto" ` + knownAs(`"%s"`), `"pi"`, "backend = \"pi\""},
		{"inline table", configURI, "hats.\"😀\".backend = { type = \"pi\", ‸ }", "args", "args", "hats.\"😀\".backend = { type = \"pi\", args = [] }"},
		{"one of a few", configURI, "[backends.pi]\nprompt = ‸ # x", `"stdin" "arg" "file"`, `"arg"`, "[backends.pi]\nprompt = \"arg\" # x"},
		{"key of a step", configURI, "[iteration]\nsteps = [ { agent = \"a\" }, { ‸ } ]", "agent task parallel", "agent", "[iteration]\nsteps = [ { agent = \"a\" }, { agent =  } ]"},
		{"key of an agent beside others", configURI, "[iteration]\nsteps = [ { parallel = [ { agent = \"a\", ‸ } ] } ]", "agent task write", "write", "[iteration]\nsteps = [ { parallel = [ { agent = \"a\", write = false } ] } ]"},
		{"a step's task", configURI, "[iteration]\nsteps = [ { agent = \"a\", task = \"‸\" } ]", `"{previous}"`, `"{previous}"`, "[iteration]\nsteps = [ { agent = \"a\", task = \"{previous}\" } ]"},
		{"unknown key's value", configURI, "colour = ‸", "", "", ""},
		{"text of several lines", configURI, "completion.promise = '''\n‸'''", "", "", ""},
	}
	for _, tt := range tests {
		inBoth(t, tt.name, func(t *testing.T, utf8 bool) {
			text, cursor, _ := cut(tt.text)
			d := withDoc(tt.uri, text, utf8, nil)
			doc := d.get(tt.uri)
			p := protocol.CompletionParams{}
			p.TextDocument.URI, p.Position = tt.uri, doc.position(cursor)
			var labels []string
			becoming := ""
			items := d.Completion(p).Items
			slices.SortStableFunc(items, func(a, b protocol.CompletionItem) int {
				return cmp.Compare(sortKey(a), sortKey(b))
			})
			for _, item := range items {
				labels = append(labels, item.Label)
				if item.Label == tt.take {
					becoming = apply(t, doc, *item.TextEdit.(*protocol.TextEdit))
				}
			}
			if got := strings.Join(labels, " "); !strings.HasPrefix(got, tt.offered) || tt.offered == "" && got != "" {
				t.Errorf("offered %q, want it to begin with %q", got, tt.offered)
			}
			if becoming != tt.becoming {
				t.Errorf("the text becomes %q, want %q", becoming, tt.becoming)
			}
		})
	}
}

// Each key of the state file is explained.
func TestEachKeyOfTheStateFileIsExplained(t *testing.T) {
	for _, key := range stateKeys() {
		if key.Doc == "" || key.Type == "" {
			t.Errorf("%s has no description", key.Name())
		}
		file := "---\n" + key.Name() + ": null\n---\nx"
		doc, err := loopstate.Parse([]byte(file))
		if err != nil {
			t.Errorf("%s: %v", key.Name(), err)
		} else if problems := doc.Problems(); len(problems) > 0 {
			t.Errorf("%s: the file doesn't know it: %v", key.Name(), problems)
		}
	}
}

// A step's agent is one of those that the folder and its user have.
func TestAgentsAreCompleted(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR"} {
		t.Setenv(name, filepath.Join(folder, "nobody"))
	}
	dir := filepath.Join(folder, ".claude", "agents")
	must.OK(t, os.MkdirAll(dir, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "x.md"), []byte("---\nname: scout\n---\nYou scout.\n"), 0o600))
	at := uri.File(filepath.Join(folder, config.Name))
	text, cursor, _ := cut("iteration.steps = [ { agent = ‸ } ]")
	d := withDoc(at, text, true, nil)
	p := protocol.CompletionParams{}
	p.TextDocument.URI, p.Position = at, d.get(at).position(cursor)
	items := d.Completion(p).Items
	if len(items) != 1 || items[0].Label != `"scout"` {
		t.Errorf("offered %+v", items)
	}
}
