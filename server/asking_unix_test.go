//go:build unix

package server

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// asksHere starts a loop of the server's own whose agent speaks as claude does when it wants to
// push, and waits until the client is asked.
func asksHere(t *testing.T) (c *dialled, dir string, q wire.Question) {
	t.Helper()
	bin := t.TempDir()
	must.OK(t, os.Symlink(os.Args[0], filepath.Join(bin, "claude")))
	t.Setenv(roleEnv, "asks")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	dir = t.TempDir()
	c = dial(t, permitted, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "Push it", Choices: wire.Choices{Backend: "claude",
		Values: settings.Values{Given: limits.Given{MaxIterations: new(1)}, Permissions: "ask"}}}))
	return c, dir, permissionOf(t, c.Hears(wire.MethodPermission, "git push"))
}

// The editor's settings can have the user asked, and nothing else: they loosen no file.
func TestAnEditorsSettingHasTheUserAsked(t *testing.T) {
	bin := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho 2.1.0\n"), 0o700))
	t.Setenv("PATH", bin)
	c := dial(t, optedIn, configured(t, ""))
	asks := func(permissions, settings string) lsptest.Message {
		return c.Command(wire.CommandStart, map[string]any{"prompt": "x", "dryRun": true, "backend": "claude", "permissions": permissions, "settings": map[string]any{"permissions": settings}})
	}
	for _, tt := range []struct{ start, settings, asks string }{
		{"", "", ""}, {"", "ask", " (from your editor's settings)"}, {"ask", "ask", "allow"}, {"agent", "ask", ""},
	} {
		row := rowOf(result[answers.DryRunResult](c, asks(tt.start, tt.settings)), "Permissions")
		if strings.Contains(row, "asks you before") != (tt.asks != "") || !strings.HasSuffix(row, tt.asks) {
			t.Errorf("%+v: %q", tt, row)
		}
	}
	if m := asks("", "agent"); m.Error == nil || !strings.Contains(m.Error.Message, `write one of ask`) || dataOf[struct{ Key string }](t, m).Key != "permissions" {
		t.Errorf("%+v", m.Error)
	}
}

// gone waits until the agent that worked in a folder is dead, and returns what it was told.
func gone(t *testing.T, dir string) (told string) {
	t.Helper()
	text := must.Read(t, filepath.Join(dir, "pid"))
	pid, err := strconv.Atoi(string(text))
	must.OK(t, err)
	proctest.Until(t, "the end of the agent", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	answer, _ := os.ReadFile(filepath.Join(dir, "told"))
	return string(answer)
}

func stateIn(t *testing.T, dir string) loopstate.State {
	t.Helper()
	_, s, err := loop.StateIn(dir)
	must.OK(t, err)
	return s
}

func TestTheAgentOfAnOwnLoopIsAnswered(t *testing.T) {
	for kind, want := range map[string]string{ask.Once: `"behavior":"allow"`, ask.ForLoop: `"behavior":"allow"`, ask.Deny: "not that branch"} {
		t.Run(kind, func(t *testing.T) {
			c, dir, q := asksHere(t)
			if l := c.status(dir, inState("waiting")); !l.Owned || len(l.Questions) != 1 || l.Questions[0].ID != q.ID {
				t.Errorf("%+v", l)
			}
			c.Must(c.Command(wire.CommandAnswer, wire.AnswerParams{LoopParams: wire.LoopParams{LoopID: q.LoopID}, ID: q.ID, Answer: kind, Text: "not that branch"}))
			c.Hears("$/cancelRequest", "")
			c.status(dir, inState("ended"))
			if told := gone(t, dir); !strings.Contains(told, want) {
				t.Errorf("it is told %s", told)
			}
		})
	}
}

func TestALoopThatAsksIsCancelled(t *testing.T) {
	c, dir, q := asksHere(t)
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
	c.Hears("$/cancelRequest", "")
	c.status(dir, inState("ended"))
	if _, _, err := loop.StateIn(dir); !errors.Is(err, loop.ErrNothingToGoOn) {
		t.Errorf("the state file is left: %v", err)
	}
	if m := c.Command(wire.CommandAnswer, wire.AnswerParams{ID: q.ID, Answer: ask.Once}); reason(t, m) != wire.ReasonNoQuestion {
		t.Errorf("%+v", m)
	}
	if told := gone(t, dir); strings.Contains(told, `"allow"`) {
		t.Errorf("it is told %s", told)
	}
}

// Whatever way an editor goes, its agent is allowed nothing and left nowhere, and the loop can go on.
func TestTheEditorGoesWhileItIsAsked(t *testing.T) {
	for name, leave := range map[string]func(c *dialled){
		"shutdown and exit": func(c *dialled) {
			c.Must(c.Call("shutdown", nil))
			c.Notify("exit", nil)
		},
		"exit alone": func(c *dialled) { c.Notify("exit", nil) },
		"crash":      func(c *dialled) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c, dir, q := asksHere(t)
			c.Answer(wire.MethodPermission, func(json.RawMessage) any { return wire.PermissionResult{Answer: ask.Once} })
			leave(c)
			code := <-c.exit
			c.exit <- code
			awaitNobody(t, dir) // this process doesn't end with its server
			if told := gone(t, dir); strings.Contains(told, `"allow"`) {
				t.Errorf("it is told %s", told)
			}
			if n := heardOf(c, wire.MethodPermission, ""); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if s := stateIn(t, dir); len(s.Allowed) > 0 || s.Permissions != "ask" {
				t.Errorf("the state file has %q, %q", s.Allowed, s.Permissions)
			}
			now, err := loop.FolderStatus(dir)
			if err != nil || !now.State.Left() || now.LoopID != q.LoopID {
				t.Errorf("%v: the loop is %s", err, now.State)
			}
		})
	}
}
