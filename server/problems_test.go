package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// shows waits until the editor shows these diagnostics of a file, as
// "line:column message", and no others.
func (c *dialled) shows(path string, want ...string) {
	c.t.Helper()
	c.Until(fmt.Sprintf("%s with %q", filepath.Base(path), want), func(heard []lsptest.Message) bool {
		var now []string
		for _, m := range heard {
			if m.Method != "textDocument/publishDiagnostics" {
				continue
			}
			var p struct {
				URI         string
				Diagnostics []struct {
					Range           struct{ Start struct{ Line, Character int } }
					Severity        int
					Source, Message string
				}
			}
			if err := json.Unmarshal(m.Params, &p); err != nil {
				c.t.Error(err)
			}
			if p.URI != wire.FileURI(path) {
				continue
			}
			now = nil
			for _, d := range p.Diagnostics {
				if d.Severity != 1 || d.Source != "ralph verify" {
					c.t.Errorf("a diagnostic %+v", d)
				}
				now = append(now, fmt.Sprintf("%d:%d %s", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Message))
			}
		}
		return fmt.Sprint(now) == fmt.Sprint(want)
	})
}

// hasNever says that the editor was told nothing of a file.
func (c *dialled) hasNever(path string) {
	c.t.Helper()
	for _, m := range c.Heard() {
		var p struct{ URI string }
		if json.Unmarshal(m.Params, &p); m.Method == "textDocument/publishDiagnostics" && p.URI == wire.FileURI(path) {
			c.t.Errorf("told of %s: %s", path, m.Params)
		}
	}
}

// failsOnce is a check that names places, and passes when it runs again and there
// is a file "go".
const failsOnce = `if [ -e begun ]; then until [ -e go ]; do sleep 0.01; done; exit 0; fi; touch begun
echo 'shop.go:3:5: undefined: x'; echo './shop.go:9: missing return'; echo '../other.go:1: y'; echo 'gone.go:1: z'; echo 'ralph.toml:1: no'; exit 1`

func TestWhatACheckFoundIsShownInAnyEditor(t *testing.T) {
	t.Parallel()
	for name, capabilities := range map[string]string{"plain": plain, "with a plugin": optedIn} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "shop")
			for _, file := range []string{"shop.go", "ralph.toml", "../other.go"} {
				must.Write(t, filepath.Join(dir, file), "\n")
			}
			c := dial(t, capabilities, dir)
			c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "Build --completion-promise DONE", Verify: failsOnce, Choices: wire.Choices{Backend: agentThat(t, "insists-again")}}))
			c.shows(filepath.Join(dir, "shop.go"), "3:5 undefined: x", "9:1 missing return")
			must.Write(t, filepath.Join(dir, "again"), "")
			c.shows(filepath.Join(dir, "shop.go")) // the next check has begun
			must.Write(t, filepath.Join(dir, "go"), "")
			c.Hears("$/progress", "done")
			for _, file := range []string{"../other.go", "gone.go", "ralph.toml"} {
				c.hasNever(filepath.Join(dir, file))
			}
		})
	}
}

func TestWhatTheLastCheckFoundStaysUntilTheLoopIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.go")
	must.Write(t, file, "\n")
	c := dial(t, optedIn, dir)
	start := wire.StartParams{Text: "Build --completion-promise DONE --max-iterations 1", Verify: "echo shop.go:1:1: broken; exit 1", Choices: wire.Choices{Backend: agentThat(t, "insists")}}
	c.Must(c.Command(wire.CommandStart, start))
	c.status(dir, inState("ended"))
	c.shows(file, "1:1 broken")
	start = wire.StartParams{Text: "Other", Choices: wire.Choices{Backend: agentThat(t, "never")}}
	c.Must(c.Command(wire.CommandStart, start))
	c.shows(file)
	c.Must(c.Command(wire.CommandCancel, struct{}{}))

	must.Write(t, filepath.Join(dir, "ralph.toml"), "[verify]\nmax_failures = 1\n")
	start = wire.StartParams{Text: "Build --completion-promise DONE", Verify: "echo shop.go:1:1: worse; exit 1", Choices: wire.Choices{Backend: agentThat(t, "insists")}, Trust: true}
	c.Must(c.Command(wire.CommandStart, start))
	c.status(dir, inState("failed"))
	c.shows(file, "1:1 worse")
	c.Must(c.Command(wire.CommandCancel, wire.CancelParams{When: "left"}))
	c.shows(file)
}
