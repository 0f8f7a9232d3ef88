//go:build e2e && unix

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// shell is a shell in tmux, as somebody's terminal.
type shell struct {
	*program
	socket  string
	started string // the file in which the agent's start is taken down
}

// sitDown opens a terminal of 40 x 100 with a shell in the work folder.
func sitDown(t *testing.T, a agent, script fakemodel.Script) *shell {
	t.Helper()
	s := &shell{program: prepare(t, a, script)}
	s.started = filepath.Join(s.box.Tmp, "started")
	s.watchStart()
	s.box.Setenv("PS1", "sit> ")
	s.socket = filepath.Join(testhome.Short(t), "tmux")
	t.Cleanup(func() { proctest.Kill(t, s.mark) })
	proctest.AtEnd(t, "tmux", "-S", s.socket, "kill-server")
	s.tmux("new-session", "-d", "-x", "100", "-y", "40", "bash", "--norc")
	s.sees("sit>")
	return s
}

// tmux gives tmux a command and returns what it says.
func (s *shell) tmux(args ...string) string {
	s.t.Helper()
	cmd := s.box.Command(context.Background(), "tmux", append([]string{"-S", s.socket, "-f", os.DevNull}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// types types a text, and keys by their names in tmux.
func (s *shell) types(text string, keys ...string) {
	s.t.Helper()
	if text != "" {
		s.tmux("send-keys", "-l", text)
	}
	if len(keys) > 0 {
		s.tmux(append([]string{"send-keys"}, keys...)...)
	}
}

// sees waits until the screen shows a text.
func (s *shell) sees(text string) {
	s.t.Helper()
	poll(s.program, patience, func() string {
		if screen := s.tmux("capture-pane", "-p"); !strings.Contains(screen, text) {
			return fmt.Sprintf("no %q on the screen:\n%s", text, screen)
		}
		return ""
	})
}

// settings are what stty says of the terminal; name keeps two answers apart.
func (s *shell) settings(name string) string {
	s.t.Helper()
	file := filepath.Join(s.box.Tmp, name)
	s.types("stty -a > "+file+"; echo "+name+"-$((40+2))", "Enter")
	s.sees(name + "-42")
	data := must.Read(s.t, file)
	return string(data)
}

// plan starts a session, and returns the agent once it shows its prompt's answer.
func (s *shell) plan(prompt, answer string) (agentPID int, argv []string) {
	s.t.Helper()
	words := []string{ralph, "plan", "--backend", s.agent.backend}
	for _, arg := range s.agent.args {
		words = append(words, "--backend-arg", arg)
	}
	s.types(strings.Join(words, " ")+" '"+prompt+"'; echo code-$?-", "Enter")
	s.sees(answer)
	data, err := os.ReadFile(s.started)
	if err != nil {
		s.fatalf("no agent was started: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if agentPID, err = strconv.Atoi(lines[0]); err != nil {
		s.t.Fatal(err)
	}
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Don't do the work yet") })
	if at < 2 || lines[at-1] != "" || !strings.Contains(lines[at], "write it as tasks into PLAN.md") {
		s.t.Fatalf("the agent isn't told to write a plan: %q", lines)
	}
	return agentPID, lines[1 : at-1]
}

// knowsClaude answers the questions of claude's first start.
func (s *shell) knowsClaude() {
	s.box.WriteJSON(s.t, ".claude.json", map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"fake"}},
		"projects": map[string]any{s.box.Dir: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
}

// suspends takes the user to the shell in the middle of a session, and back if
// that is wanted.
func (s *shell) suspends(before string, andBack bool) {
	s.t.Helper()
	s.types("", "C-z")
	s.sees("Stopped")
	if got := s.settings("meanwhile"); got != before {
		s.t.Errorf("the terminal isn't the shell's:\n%s\n%s", before, got)
	}
	if !andBack {
		return
	}
	s.types("clear; echo clear-$((40+2))", "Enter") // what is seen then is new
	s.sees("clear-42")
	s.types("bg", "Enter")
	if got := s.settings("behind"); got != before {
		s.t.Errorf("in the background it takes the terminal:\n%s\n%s", before, got)
	}
	s.types("clear; echo clear-$((41+2))", "Enter")
	s.sees("clear-43")
	s.types("fg; echo code-$?-", "Enter")
	s.sees(planAnswer)
}

// watchStart puts a script before the agent that takes down its process id and
// arguments and becomes the agent: pi overwrites what the system knows of them.
func (s *shell) watchStart() {
	s.t.Helper()
	bin := filepath.Join(s.box.Tmp, "bin")
	real := s.box.Command(context.Background(), s.agent.backend)
	path := ""
	for _, kv := range real.Env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || printf '%%s\\n' $$ \"$@\" > %s\nexec %s \"$@\"\n", s.started, real.Path)
	must.OK(s.t, os.Mkdir(bin, 0o700))
	must.OK(s.t, os.WriteFile(filepath.Join(bin, s.agent.backend), []byte(script), 0o700))
	s.box.Setenv("PATH", bin+":"+path)
}

// sizeOf is the size of a process's terminal, in rows and columns.
func (s *shell) sizeOf(pid int) string {
	out, err := s.box.Command(context.Background(), "stty", "-F", fmt.Sprintf("/proc/%d/fd/0", pid), "size").CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(out))
}

// parentOf is the process that started another one.
func (s *shell) parentOf(pid int) int {
	s.t.Helper()
	data := must.Read(s.t, fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	must.OK(s.t, err)
	return parent
}

// awaitOnlyTheShell waits until nothing of the session is left.
func (s *shell) awaitOnlyTheShell() {
	s.t.Helper()
	poll(s.program, goneWithin, func() string {
		for _, p := range proctest.Find(s.mark) {
			if !strings.HasPrefix(p.Command, "bash") && !strings.Contains(p.Command, "tmux -S") {
				return "left: " + p.String()
			}
		}
		return ""
	})
	if left, err := filepath.Glob(filepath.Join(s.box.Tmp, "ralph-*")); err != nil || len(left) > 0 {
		s.t.Errorf("left: %q, %v", left, err)
	}
}

const planPrompt, planAnswer = "Which parser first?", "The tokenizer comes first."

func planScript() fakemodel.Script {
	return fakemodel.Script{Turns: []fakemodel.Turn{says(planAnswer), says("Two more words.")}}
}

func TestThePlanIsPisOwnInterface(t *testing.T) {
	t.Parallel()
	s := sitDown(t, pi, planScript())
	before := s.settings("before")
	pid, argv := s.plan(planPrompt, planAnswer)
	want := append(append([]string{"--no-session"}, pi.args...), planPrompt)
	if !slices.Equal(argv, want) { // no -p, no --mode json
		t.Errorf("argv %q, want %q", argv, want)
	}
	if got := s.sizeOf(pid); got != "40 100" {
		t.Errorf("pi's window is %s", got)
	}
	s.suspends(before, true)
	s.tmux("resize-window", "-x", "130", "-y", "30")
	poll(s.program, patience, func() string {
		if got := s.sizeOf(pid); got != "30 130" {
			return "pi's window is " + got
		}
		return ""
	})
	s.types("Go on", "Enter")
	s.sees("Two more words.")
	s.types("", "C-d")
	s.sees("code-0-")
	after := s.settings("after")
	if got := strings.Replace(after, "rows 30; columns 130", "rows 40; columns 100", 1); got != before {
		t.Errorf("the terminal isn't as it was:\n%s\n%s", before, after)
	}
	s.awaitOnlyTheShell()
}

// A suspended session can be ended in all ways, without fg.
func TestASuspendedPlanThatIsEnded(t *testing.T) {
	t.Parallel()
	for _, how := range []struct { // the seat of the session, which ends, is the same for both agents
		agent
		name string
		end  func(*shell)
	}{
		{pi, "its terminal is closed", func(s *shell) { s.tmux("kill-server") }},
		{claude, "kill", func(s *shell) { s.types("kill %1", "Enter"); s.awaitOnlyTheShell() }},
		{pi, "its shell exits and it is in the background", func(s *shell) { s.types("bg", "Enter"); s.sees("[1]+ " + ralph); s.types("exit", "Enter") }},
		{claude, "its shell exits", func(s *shell) { s.types("exit", "Enter"); s.sees("stopped jobs"); s.types("exit", "Enter") }},
	} {
		a := how.agent
		t.Run(how.name+"/"+a.name, func(t *testing.T) {
			s := sitDown(t, a, planScript())
			if a.name == claude.name {
				s.knowsClaude()
			}
			before := s.settings("before")
			s.plan(planPrompt, planAnswer)
			s.suspends(before, false)
			how.end(s)
			if how.name != "kill" {
				proctest.CheckNone(t, goneWithin, s.mark)
			}
		})
	}
}

// The shell gives the terminal back its settings, as after any program that a
// signal ends; nothing of the session is left.
func TestAPlanThatIsKilledItself(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		above  int // generations over the agent
		signal syscall.Signal
		code   int
	}{
		{"asked to end", 2, syscall.SIGTERM, 0}, // pi ends well
		{"killed", 2, syscall.SIGKILL, 137},
		{"its seat is killed", 1, syscall.SIGKILL, 137},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sitDown(t, pi, planScript())
			before := s.settings("before")
			pid, _ := s.plan(planPrompt, planAnswer)
			for range tt.above {
				pid = s.parentOf(pid)
			}
			must.OK(t, syscall.Kill(pid, tt.signal))
			s.sees(fmt.Sprintf("code-%d-", tt.code))
			if after := s.settings("after"); after != before {
				t.Errorf("the terminal isn't as it was:\n%s\n%s", before, after)
			}
			s.awaitOnlyTheShell()
		})
	}
}

// TestThePlanIsClaudesOwnInterface needs no account: a home in which the first
// questions are answered, and a key that only the fake model takes.
func TestThePlanIsClaudesOwnInterface(t *testing.T) {
	t.Parallel()
	s := sitDown(t, claude, planScript())
	s.knowsClaude()
	before := s.settings("before")
	pid, argv := s.plan(planPrompt, planAnswer)
	if want := []string{"--", planPrompt}; !slices.Equal(argv, want) { // no -p, no --output-format
		t.Errorf("argv %q, want %q", argv, want)
	}
	if got := s.sizeOf(pid); got != "40 100" {
		t.Errorf("claude's window is %s", got)
	}
	s.suspends(before, true)
	s.types("Go on", "Enter")
	s.sees("Two more words.")
	s.types("/exit", "Enter")
	s.sees("code-0-")
	if after := s.settings("after"); after != before {
		t.Errorf("the terminal isn't as it was:\n%s\n%s", before, after)
	}
	s.awaitOnlyTheShell()
}
