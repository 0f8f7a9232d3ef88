package keeper

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// The test binary is a keeper, too, as the program is.
func TestMain(m *testing.M) {
	if client.IsKeeper(os.Args) {
		Main()
		return
	}
	testhome.Main(m, "NO_ROLE", nil)
}

// talks is an agent that says a message each 20 ms until there is a file "enough" in its folder.
const talks = `cat >/dev/null; n=0
until [ -e enough ]; do n=$((n+1))
echo '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"'$$-$n'"}],"stopReason":"toolUse"}}'
sleep 0.02; done
echo '{"type":"agent_settled"}'
`

// talking is the configuration of a loop whose agent talks.
func talking(t *testing.T) setup.Config {
	cfg := echoes(t)
	cfg.Backend.Command, cfg.Backend.Args = "/bin/sh", []string{"-c", talks}
	cfg.Limits.MaxIterations = 1000
	return cfg
}

// starts starts a keeper that drives a loop, whose first window it returns.
func starts(t *testing.T, cfg setup.Config, hello client.Hello) *follower {
	t.Helper()
	c, err := client.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	data, err := cfg.Encode()
	if err == nil {
		err = c.Begin(data, hello)
	}
	if err != nil {
		t.Fatal(err)
	}
	mark := caller.EnvLoopID + "=" + c.LoopID()
	owner, _, _ := loop.OwnerIn(cfg.Folder)
	t.Cleanup(func() {
		c.Close()
		proctest.Kill(t, mark)
		proctest.Until(t, "the keeper is gone, which writes into the test's folders", func() bool {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", owner.PID))
			return len(command) == 0 // a zombie has none
		})
	})
	return follow(c)
}

// follower is a window that notes what it is told.
type follower struct {
	*client.Connection
	mu    sync.Mutex
	heard []string
	done  chan struct{}
}

func follow(c *client.Connection) *follower {
	f := &follower{Connection: c, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for isOver := false; !isOver; {
			select {
			case <-c.News():
			case <-c.Over():
				isOver = true
			}
			page, _ := c.Next(true)
			f.mu.Lock()
			f.heard = append(f.heard, written(page.Items)...)
			f.mu.Unlock()
		}
	}()
	return f
}

// written are updates as a journal has them.
func written(items []journal.Item) (lines []string) {
	for _, it := range items {
		lines = append(lines, string(it.JSON))
	}
	return lines
}

// awaits waits until the window was told something.
func (f *follower) awaits(t *testing.T, text string) {
	t.Helper()
	proctest.Until(t, text, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		isTold := strings.Contains(strings.Join(f.heard, "\n"), text)
		if _, isOver := f.Waits(); isOver && !isTold {
			t.Fatalf("the window isn't told %q any more", text)
		}
		return isTold
	})
}

// story is what the journal of a loop has behind a cursor.
func story(t *testing.T, loopID, cursor string) (lines []string) {
	t.Helper()
	r, err := journal.Open(loopID)
	if err != nil {
		t.Fatal(err)
	}
	for page, err := range journal.Pages(context.Background(), r, cursor, journal.Options{Thinking: true}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, written(page.Items)...)
	}
	return lines
}

// between is what is between a window and a keeper.
type between struct {
	path string // on which a window connects
	mu   sync.Mutex
	all  []net.Conn
}

// lay lays one to the keeper of a folder's loop.
func lay(t *testing.T, folder string) *between {
	t.Helper()
	b := &between{path: filepath.Join(t.TempDir(), "s")}
	l, err := net.Listen("unix", b.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			theirs, err := l.Accept()
			if err != nil {
				return
			}
			owner, _, _ := loop.OwnerIn(folder)
			ours, err := net.Dial("unix", owner.Control)
			if err != nil {
				theirs.Close()
				continue
			}
			b.mu.Lock()
			b.all = append(b.all, theirs, ours)
			b.mu.Unlock()
			for _, way := range [][2]net.Conn{{theirs, ours}, {ours, theirs}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				}()
			}
		}
	}()
	return b
}

func (b *between) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.all {
		conn.Close()
	}
	b.all = nil
}

// dial makes a window of the loop.
func (b *between) dial(t *testing.T, hello client.Hello) *follower {
	t.Helper()
	c, err := client.Dial(t.Context(), b.path, hello, nil)
	if err != nil {
		t.Fatal(err)
	}
	return follow(c)
}

// A window whose connection is cut while the keeper lives doesn't say that this was killed. The loop goes on.
func TestAConnectionIsCut(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := talking(t)
	own := starts(t, cfg, client.Hello{Owns: true})
	own.awaits(t, "-3\"")
	b := lay(t, cfg.Folder)
	w := b.dial(t, client.Hello{})
	w.awaits(t, "-5\"")
	owner, _, _ := loop.OwnerIn(cfg.Folder)
	b.cut()
	<-w.Over()
	want := fmt.Sprintf("the connection with process %s, which drives the loop, has ended", owner.Words())
	if _, err := w.End(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it says %v", err)
	}
	if _, err := own.Do(loop.Request{Do: loop.DoInterrupt}); err != nil {
		t.Error(err)
	}
	<-own.done
	if end, err := own.End(); err != nil || end.Reason != loop.StopInterrupted {
		t.Errorf("%+v, %v", end.Reason, err)
	}
}

// The state folder goes while a loop runs: its windows are told on, another one comes, and the end is told.
func TestTheStateFolderIsRemoved(t *testing.T) {
	state := t.TempDir()
	t.Setenv(paths.EnvState, state)
	cfg := talking(t)
	own := starts(t, cfg, client.Hello{Owns: true})
	own.awaits(t, "-3\"")
	proctest.Until(t, "the state folder is gone, in which files come meanwhile", func() bool { return os.RemoveAll(state) == nil })
	b := lay(t, cfg.Folder)
	var w *follower
	proctest.Until(t, "another window is let in", func() bool {
		c, err := client.Dial(t.Context(), b.path, client.Hello{}, nil)
		if err == nil {
			w = follow(c)
		}
		return err == nil
	})
	own.awaits(t, "-20\"")
	if _, err := w.Do(loop.Request{Do: loop.DoInterrupt}); err != nil {
		t.Error(err)
	}
	for _, each := range []*follower{own, w} {
		<-each.done
		if end, err := each.End(); err != nil || end.Reason != loop.StopInterrupted || !strings.Contains(strings.Join(each.heard, "\n"), "-20\"") {
			t.Errorf("it is told %d updates and %q, %v", len(each.heard), end.Reason, err)
		}
	}
	proctest.CheckNone(t, proctest.Patience, caller.EnvLoopID+"="+own.LoopID())
	if _, s, err := loop.StateIn(cfg.Folder); err != nil || s.Prompt != cfg.Prompt {
		t.Errorf("it can't go on: %+v, %v", s, err)
	}
}

// A window of a later version, and one of an earlier: what isn't known is skipped, or refused with words, and the rest works.
func TestWindowsOfOtherVersions(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := talking(t)
	own := starts(t, cfg, client.Hello{Owns: true})
	own.awaits(t, "-3\"")
	owner, _, _ := loop.OwnerIn(cfg.Folder)
	conn, err := net.Dial("unix", owner.Control)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, say := range []struct{ line, answer string }{
		{`{"k":"hello","later":{"a":1},"hello":{"pid":1,"later":true}}`, `"k":"welcome"`},
		{`{"k":"of a later version"}`, ""},
		{`{"k":"do","n":1,"request":{"do":"levitate"}}`, `can't levitate a loop that it drives: restart it`},
		{`{"k":"do","n":2,"request":{"do":"update","patch":{"Promise":"DONE"}}}`, `"n":2,"reply":{`}, // by its earlier name
		{`{"k":"do","n":3,"request":{"do":"interrupt","later":1}}`, `"k":"over"`},
	} {
		if _, err := fmt.Fprintln(conn, say.line); err != nil {
			t.Fatal(err)
		}
		for said := ""; !strings.Contains(said, say.answer); {
			if said, err = in.ReadString('\n'); err != nil {
				t.Fatalf("%s isn't answered with %q: %v", say.line, say.answer, err)
			}
		}
	}
	<-own.done
	if end, err := own.End(); err != nil || end.Reason != loop.StopInterrupted || end.Status.Promise != "DONE" {
		t.Errorf("it ends by %q with the promise %q, %v", end.Reason, end.Status.Promise, err)
	}
}
