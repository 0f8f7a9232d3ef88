package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// dialled is an editor that speaks to a server of this process over pipes.
type dialled struct {
	*lsptest.Client
	t    *testing.T
	exit chan int // the server's exit code
}

// The capabilities of two clients: one with a plugin of ours, one without.
const (
	optedIn = `{"window":{"workDoneProgress":true,"showMessage":{"messageActionItem":{}}},"experimental":{"ralph":{"version":2,"updates":true}}}`
	plain   = `{"window":{"workDoneProgress":true,"showMessage":{"messageActionItem":{}}}}`
)

// dialledIn are the folders of all. A server's end waits for its loops only so long, as its process ends them: here
// they go on, and would write into folders that are being removed.
var dialledIn sync.Map

// dial starts a server, initialises it with these folders, and ends it with the test.
func dial(t *testing.T, capabilities string, folders ...string) *dialled {
	t.Helper()
	return dialWith(t, Options{}, capabilities, folders...)
}

// dialWith is dial for a server with options.
func dialWith(t *testing.T, o Options, capabilities string, folders ...string) *dialled {
	t.Helper()
	o.Version, o.Log = "test", slog.New(slog.DiscardHandler)
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &dialled{lsptest.New(t, to, from, patience), t, make(chan int, 1)}
	go func() {
		c.exit <- Run(context.Background(), in, out, o)
		in.Close()
		out.Close()
	}()
	for _, dir := range folders {
		st, _ := loop.FolderStatus(dir)                                                  // by the test itself
		if _, isKnown := dialledIn.LoadOrStore(dir, true); !isKnown && st.Owner == nil { // the first editor's end is the last in a test
			t.Cleanup(func() { awaitNobody(t, dir) })
		}
	}
	t.Cleanup(c.hangUp)
	c.Initialize(json.RawMessage(capabilities), folders...)
	return c
}

// hangUp ends the connection without a word, as a crashed editor does.
func (c *dialled) hangUp() {
	c.Close()
	select {
	case code := <-c.exit:
		c.exit <- code
	case <-time.After(patience):
		c.t.Error("the server goes on without its editor")
	}
}

// status waits for a ralph/status in which the folder's loop is as it should be.
func (c *dialled) status(folder string, as func(wire.LoopStatus) bool) wire.LoopStatus {
	c.t.Helper()
	var found wire.LoopStatus
	c.Until("status of "+folder, func(heard []lsptest.Message) bool {
		for i := len(heard) - 1; i >= 0; i-- {
			if heard[i].Method != wire.MethodStatus {
				continue
			}
			var p wire.StatusParams
			if err := json.Unmarshal(heard[i].Params, &p); err != nil {
				c.t.Error(err)
			}
			for _, l := range p.Loops {
				if l.Folder == wire.FileURI(folder) && as(l) {
					found = l
					return true
				}
			}
			return false // only the latest counts
		}
		return false
	})
	return found
}

// statusWithout waits for a ralph/status that doesn't have the folder.
func (c *dialled) statusWithout(folder string) {
	c.t.Helper()
	c.Until("status without "+folder, func(heard []lsptest.Message) bool {
		for i := len(heard) - 1; i >= 0; i-- {
			if heard[i].Method == wire.MethodStatus {
				return !strings.Contains(string(heard[i].Params), `"folder":"`+wire.FileURI(folder)+`"`)
			}
		}
		return false
	})
}

// inState is a condition for status.
func inState(state string) func(wire.LoopStatus) bool {
	return func(l wire.LoopStatus) bool { return l.State == state }
}

// open opens a document in the editor, with a text that isn't saved.
func (c *dialled) open(uri, text string) {
	c.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "markdown", "version": 1, "text": text}})
}

// dryRun returns what a start would do.
func (c *dialled) dryRun(argument map[string]any) answers.DryRunResult {
	c.t.Helper()
	argument["dryRun"] = true
	return result[answers.DryRunResult](c, c.Command(wire.CommandStart, argument))
}
