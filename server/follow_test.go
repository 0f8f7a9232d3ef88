package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// following is a client that has a loop's log from its notifications, and reads
// where they don't join.
type following struct {
	*dialled
	folder  string
	heard   int // messages that it has looked at
	cursor  string
	updates []json.RawMessage
}

// until follows the log until it has a text.
func (c *following) until(text string) {
	c.t.Helper()
	for from := len(c.updates); ; {
		for ; from < len(c.updates); from++ {
			if strings.Contains(string(c.updates[from]), text) {
				return
			}
		}
		messages := c.Heard()
		for _, m := range messages[c.heard:] {
			var p wire.UpdateParams
			if m.Method != wire.MethodUpdate {
				continue
			}
			if clienttest.Decode(c.t, m.Params, &p); p.After == c.cursor && p.After != "" {
				c.updates, c.cursor = append(c.updates, p.Updates...), p.Cursor
			} else {
				c.read()
			}
		}
		c.heard = len(messages)
		if from == len(c.updates) {
			c.Until("more than "+text, func(heard []lsptest.Message) bool { return len(heard) > c.heard })
		}
	}
}

func (c *following) read() {
	c.t.Helper()
	updates, page := readAll(c.t, c.dialled, wire.ReadParams{LoopParams: wire.LoopParams{Folder: wire.FileURI(c.folder)}, After: c.cursor})
	c.updates, c.cursor = append(c.updates, updates...), page.Cursor
	if page.Reset {
		c.t.Errorf("the cursor %s isn't known", c.cursor)
	}
}

// joined checks that each update that it heard follows the one before.
func (c *following) joined() {
	c.t.Helper()
	var last string
	for _, m := range c.Heard() {
		var p wire.UpdateParams
		if m.Method != wire.MethodUpdate {
			continue
		}
		if clienttest.Decode(c.t, m.Params, &p); last != "" && p.After != last {
			c.t.Errorf("an update follows %s; the one before ended at %s", p.After, last)
		}
		last = p.Cursor
	}
}

// hasAll compares what the client has with what a new one reads.
func (c *following) hasAll() {
	c.t.Helper()
	c.read()
	var all []json.RawMessage
	for complete := false; !complete; { // that its owner is gone is seen a moment later
		var page answers.ReadResult
		all, page = readAll(c.t, c.dialled, wire.ReadParams{LoopParams: wire.LoopParams{Folder: wire.FileURI(c.folder)}})
		complete = page.Complete
	}
	compareLogs(c.t, logOf(c.t, all), logOf(c.t, c.updates))
}

// drivenBy starts a loop in another server, and returns it with a client that follows it.
func drivenBy(t *testing.T, role string) (owner *dialled, c *following) {
	dir := t.TempDir()
	owner = dial(t, optedIn, dir)
	owner.Must(owner.Command(wire.CommandStart, map[string]any{"text": `"Build X" --max-iterations=3`, "backend": agentThat(t, role)}))
	owner.Hears(wire.MethodUpdate, "working")
	c = &following{dialled: dial(t, optedIn, dir), folder: dir}
	c.status(dir, func(l wire.LoopStatus) bool { return l.State == "running" })
	c.read()
	return owner, c
}

func TestALoopOfAnotherProcessIsFollowed(t *testing.T) {
	t.Parallel()
	_, c := drivenBy(t, "waits")
	must.OK(t, os.WriteFile(filepath.Join(c.folder, "go"), nil, 0o600))
	c.Hears(wire.MethodUpdate, `"_ralph/end"`)
	c.joined()
	c.until(`"_ralph/end"`)
	c.hasAll()
}

func TestAFollowedLoopGoesOnElsewhere(t *testing.T) {
	owner, c := drivenBy(t, "never")
	owner.Must(owner.Command(wire.CommandCancel, wire.CancelParams{When: wire.WhenInterrupt}))
	c.until(`"_ralph/end"`)
	t.Setenv("RALPH_TEST_THEN", agentThat(t, "promises")) // whatever its name
	other := dial(t, optedIn, c.folder)
	other.status(c.folder, inState("interrupted"))
	other.Must(other.Command(wire.CommandResume, map[string]any{"trust": true}))
	c.until(`"_ralph/end"`)
	c.hasAll()
}
