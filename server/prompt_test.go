package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A URI may be spelled in several ways; what is open is open under all of them.
func TestAnUnsavedPromptCountsHoweverItsURIIsSpelled(t *testing.T) {
	t.Parallel()
	agent := agentThat(t, "never")
	for _, name := range []string{"plain", "at@x", "plus+x", "sp ace", "par(x)", "é", "a=b", "comma,x", "tilde~"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			must.Write(t, filepath.Join(dir, "PROMPT.md"), strings.Repeat("saved long ago ", 100))
			c := dial(t, optedIn, dir)
			var escaped strings.Builder
			for _, b := range []byte(dir) {
				if strings.ContainsRune("/-_.~", rune(b)) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' {
					escaped.WriteByte(b)
				} else {
					fmt.Fprintf(&escaped, "%%%02X", b)
				}
			}
			want := c.dryRun(map[string]any{"prompt": "not saved", "backend": agent}).PromptBytes
			c.open("file://"+escaped.String()+"/PROMPT.md", "not saved")
			for spelling, argument := range map[string]map[string]any{
				"no prompt":  {"backend": agent},
				"as opened":  {"backend": agent, "promptUri": "file://" + escaped.String() + "/PROMPT.md"},
				"raw":        {"backend": agent, "promptUri": "file://" + dir + "/PROMPT.md"},
				"ours":       {"backend": agent, "promptUri": wire.FileURI(filepath.Join(dir, "PROMPT.md"))},
				"lower case": {"backend": agent, "promptUri": strings.ReplaceAll("file://"+escaped.String()+"/PROMPT.md", "%C3%A9", "%c3%a9")},
			} {
				if got := c.dryRun(argument).PromptBytes; got != want {
					t.Errorf("%s: a prompt of %d bytes, want %d", spelling, got, want)
				}
			}
		})
	}
}

func TestTheOtherKeysWinOverTheText(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "TASK.md"), strings.Repeat("z", 200))
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	size := func(argument map[string]any) int {
		argument["backend"] = agent
		return c.dryRun(argument).PromptBytes
	}
	base := size(map[string]any{"text": "x"}) - 1
	uri := wire.FileURI(filepath.Join(dir, "TASK.md"))
	if got := size(map[string]any{"text": "x", "prompt": strings.Repeat("y", 100)}) - base; got != 100 {
		t.Errorf("prompt and text: %d bytes", got)
	}
	for text, want := range map[string]int{"x": 1 + 2 + 10, "--max-failures 3": 10} {
		if got := size(map[string]any{"text": text, "selection": strings.Repeat("y", 10)}) - base; got != want {
			t.Errorf("%q and a selection: %d bytes", text, got)
		}
	}
	if got := size(map[string]any{"text": "x", "promptUri": uri}) - base; got != 200 {
		t.Errorf("promptUri and text: %d bytes", got)
	}
	if got := c.dryRun(map[string]any{"text": "x --max-iterations 3 --max-cost 1", "maxIterations": 4, "backend": agent}).Limits; *got.MaxIterations != 4 || *got.MaxCostUSD != 1 {
		t.Errorf("limits %+v", got)
	}
}

func TestAStateFileAsThePromptBringsItsLimits(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	uri := wire.FileURI(filepath.Join(dir, ".pi", "ralph-loop.local.md"))
	c.open(uri, "---\nmax_iterations: 3\ncompletion_promise: \"YO\"\n---\n\nthe prompt\n")
	got := c.dryRun(map[string]any{"promptUri": uri, "backend": agent, "maxDurationMs": 60000}).Limits
	if *got.MaxIterations != 3 || *got.Promise != "YO" || *got.MaxDuration != limits.Duration(time.Minute) {
		t.Errorf("got %+v", got)
	}
	c.Notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2},
		"contentChanges": []any{map[string]any{"text": "---\nmax_iterations: many\n---\n\nthe prompt\n"}}})
	if bad := c.dryRun(map[string]any{"promptUri": uri, "backend": agent}).Problems; len(bad) != 1 || bad[0].Reason != wire.ReasonBadStateFile {
		t.Errorf("got %+v", bad)
	}
}

func TestAPromptLinkedOutOfTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "elsewhere.md")
	must.Write(t, outside, "x")
	for _, target := range []string{outside, "/no/such/file"} {
		dir := t.TempDir()
		must.OK(t, os.Symlink(target, filepath.Join(dir, "PROMPT.md")))
		c := dial(t, optedIn, dir)
		m := c.Command(wire.CommandStart, wire.StartParams{Choices: wire.Choices{Backend: agentThat(t, "never")}})
		if reason(t, m) != wire.ReasonBadPrompt || !strings.Contains(m.Error.Message, "leads out of the folder, to "+target) {
			t.Errorf("%s: %d %s %s", target, m.Error.Code, m.Error.Message, m.Error.Data)
		}
		if data := dataOf[struct{ FileURI string }](t, m); data.FileURI != wire.FileURI(filepath.Join(dir, "PROMPT.md")) {
			t.Errorf("data %+v", data)
		}
	}
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///w/a%20b": "/w/a b", "file:///w/a b/": "/w/a b", "file://localhost/w": "/w", "file:///w/é": "/w/é", "file:///w/%C3%A9": "/w/é",
		"file://otherhost/w": "", "http:///w": "", "/w": "", "file:w": "",
	} {
		if got, err := wire.PathOf(uri); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", uri, got, err)
		}
	}
}
