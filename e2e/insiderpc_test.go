//go:build e2e && unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// said is a line of pi's rpc mode, as far as tests read it.
type said struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Command     string   `json:"command"`
	Method      string   `json:"method"`
	Title       string   `json:"title"`
	Options     []string `json:"options"`
	Message     any      `json:"message"`
	StatusText  string   `json:"statusText"`
	WidgetLines []string `json:"widgetLines"`
	Data        struct{ Commands []struct{ Name string } }
}

// driven is a pi that a program drives.
type driven struct {
	*program
	in    io.WriteCloser
	lines chan said // closed at its end
	heard []string
}

// drivenPi starts a pi in its rpc mode. Its end is the test's.
func drivenPi(t *testing.T, p *program, args ...string) *driven {
	t.Helper()
	d := &driven{program: p, lines: make(chan said, 1000)}
	cmd := p.box.Command(t.Context(), "pi", slices.Concat([]string{"--mode", "rpc", "--no-session"}, agents.FakeModelArgs, args)...)
	in, err := cmd.StdinPipe()
	must.OK(t, err)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	d.in = in
	must.OK(t, cmd.Start())
	go func() {
		defer close(d.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var s said
			if json.Unmarshal(line, &s) == nil {
				d.lines <- s
			}
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for range d.lines { // until it is gone
		}
		cmd.Wait()
		proctest.CheckNone(t, goneWithin, p.mark)
	})
	return d
}

func (d *driven) send(v any) {
	d.t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		_, err = d.in.Write(append(data, '\n'))
	}
	must.OK(d.t, err)
}

func (d *driven) prompt(text string) {
	d.t.Helper()
	d.send(map[string]string{"type": "prompt", "message": text})
}

// hears waits for lines that have the texts, in whatever order, and returns the last.
func (d *driven) hears(texts ...string) (last said) {
	d.t.Helper()
	timeout := time.After(patience)
	for len(texts) > 0 {
		select {
		case s, ok := <-d.lines:
			if !ok {
				d.t.Fatalf("pi ended without %q; it said\n%s", texts, strings.Join(d.heard, "\n"))
			}
			line := fmt.Sprintf("%+v", s)
			d.heard = append(d.heard, line)
			texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(line, text) })
			last = s
		case <-timeout:
			d.t.Fatalf("pi didn't say %q but\n%s", texts, strings.Join(d.heard, "\n"))
		}
	}
	return last
}

// commands are those of ours that pi has.
func (d *driven) commands() (names []string) {
	d.t.Helper()
	d.send(map[string]string{"type": "get_commands"})
	for _, c := range d.hears("Command:get_commands").Data.Commands {
		if strings.Contains(c.Name, "ralph") {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

var insideCommands = []string{"cancel-ralph", "ralph-answer", "ralph-changes", "ralph-detach", "ralph-help", "ralph-land", "ralph-loop", "ralph-next", "ralph-pause", "ralph-redo", "ralph-resume", "ralph-status", "ralph-steer", "ralph-undo", "ralph-update"}

func TestALoopThroughPisRPCMode(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		{Match: "Say hello", Text: "Hello to you."},
		{Steps: []fakemodel.Step{pi.bash(untilThere("never"))}, Repeat: -1},
	}})
	p.box.Setenv("RALPH_LSP", ralph)
	d := drivenPi(t, p, "-e", extension(t))
	d.prompt("/ralph-loop\nBuild it\n--max-iterations 3") // pi takes it for a message
	d.hears("Ralph 1/3 · $0.0006 · bash until", "● bash until test -e never")
	d.prompt("Say hello")
	question := d.hears(questionActive)
	d.send(map[string]string{"type": "extension_ui_response", "id": question.ID, "value": question.Options[1]})
	d.hears("Ralph cancelled after 1 iteration", "Hello to you.")
	d.prompt("/ralph-loop --max-iteration 3 Build it")
	d.hears("did you mean --max-iterations?")
	d.prompt("/ralph-help")
	d.hears("`/ralph-loop` Run a prompt in a loop")
	d.prompt("/ralph-help all")
	d.hears("# Ralph loops")
}

// In a run without a screen nothing is started, and in a loop's own pi nothing is there.
func TestTheExtensionWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Default: &fakemodel.Turn{Text: "Hello to you."}})
	started := filepath.Join(p.box.Tmp, "sidecar")
	p.box.Setenv("RALPH_LSP", sidecar(t, p, "touch "+started))
	run := func(prompt string) (stdout, stderr string) {
		cmd := p.box.Command(t.Context(), "pi", slices.Concat([]string{"-p", "--no-session", "-e", extension(t)}, agents.FakeModelArgs, []string{prompt})...)
		var out, errors bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errors
		if err := cmd.Run(); err != nil {
			if _, ok := err.(*exec.ExitError); !ok {
				t.Fatal(err)
			}
		}
		return out.String(), errors.String()
	}
	if out, errors := run("Say hello"); out != "Hello to you.\n" || strings.Contains(errors, "Ralph") {
		t.Errorf("a headless run said %q %q", out, errors)
	}
	if out, errors := run("/ralph-loop Build it"); !strings.Contains(errors, "/ralph-loop needs somebody who looks") {
		t.Errorf("a headless start said %q %q", out, errors)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a headless run started the sidecar")
	}
	p.box.Setenv("RALPH_LOOP_ID", "ralph-1")
	if names := drivenPi(t, p, "-e", extension(t)).commands(); len(names) > 0 {
		t.Errorf("a loop's own pi has %q", names)
	}
}

// sidecar makes a program of a shell's commands.
func sidecar(t *testing.T, p *program, commands string) string {
	t.Helper()
	file := filepath.Join(p.box.Tmp, "not-ralph-lsp")
	must.OK(t, os.WriteFile(file, []byte("#!/bin/sh\n"+commands+"\n"), 0o700))
	return file
}

// frames are messages of a server.
func frames(messages ...any) string {
	var all strings.Builder
	for _, message := range messages {
		body, err := json.Marshal(message)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&all, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return all.String()
}

type object = map[string]any

func initialized(version int) object {
	return object{"jsonrpc": "2.0", "id": 1, "result": object{"capabilities": object{"experimental": object{"ralph": object{"version": version}}}}}
}

func TestTheExtensionWithoutItsSidecar(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{})
	alone := filepath.Join(p.box.Tmp, "alone") // without the checkout's bin beside it
	must.OK(t, os.CopyFS(alone, os.DirFS(extension(t))))
	old := filepath.Join(p.box.Tmp, "old")
	must.OK(t, os.WriteFile(old, []byte(frames(initialized(1))), 0o600))
	for _, tt := range []struct{ name, sidecar, says string }{
		{"not installed", "", `ralph-lsp was not found: install it with "npm install -g ralph-lsp" or "make build" in its checkout, or set RALPH_LSP to its path`},
		{"not there", "/no/such/ralph-lsp", "/no/such/ralph-lsp (RALPH_LSP) is no program that can be run"},
		{"too old", sidecar(t, p, "cat "+old+"; exec cat >/dev/null"), "speaks version 1 of the protocol, this extension version 2: update ralph-lsp"},
		{"something else", "/bin/false", "ralph-lsp ended with exit code 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.t = t
			p.box.Setenv("RALPH_LSP", tt.sidecar)
			d := drivenPi(t, p, "-e", filepath.Join(alone, "index.ts"))
			d.prompt("/ralph-loop Build it")
			d.hears(tt.says)
		})
	}
}

// pi finds the extension wherever its user may put it.
func TestPiLoadsTheExtension(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		put  func(p *program) (args []string)
	}{
		{"a package", func(p *program) []string {
			if out, err := p.box.Command(t.Context(), "pi", "install", extension(t)).CombinedOutput(); err != nil {
				p.t.Errorf("%v: %s", err, out)
			}
			return nil
		}},
		{"the folder's", func(p *program) []string {
			if err := os.CopyFS(filepath.Join(p.box.Dir, ".pi", "extensions", "ralph"), os.DirFS(extension(t))); err != nil {
				p.t.Error(err)
			}
			return []string{"--approve"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prepare(t, pi, fakemodel.Script{})
			p.box.Setenv("RALPH_LSP", ralph)
			if names := drivenPi(t, p, tt.put(p)...).commands(); !slices.Equal(names, insideCommands) {
				t.Errorf("pi has %q, want %q", names, insideCommands)
			}
		})
	}
	t.Run("the folder's, without trust", func(t *testing.T) {
		p := prepare(t, pi, fakemodel.Script{})
		must.OK(t, os.CopyFS(filepath.Join(p.box.Dir, ".pi", "extensions", "ralph"), os.DirFS(extension(t))))
		if names := drivenPi(t, p, "--no-approve").commands(); len(names) > 0 {
			t.Errorf("pi has %q", names)
		}
	})
	t.Run("an old pi", func(t *testing.T) {
		p := prepare(t, pi073, fakemodel.Script{})
		drivenPi(t, p, "-e", extension(t)).hears("The Ralph extension needs pi 0.80.4 or newer")
	})
}

// Whatever a sidecar says, pi's screen stays whole, in a narrow terminal, too.
func TestAHostileSidecarInsidePi(t *testing.T) {
	t.Parallel()
	s := sitDown(t, pi, fakemodel.Script{Default: &fakemodel.Turn{Text: "Hello to you."}})
	nasty := strings.Repeat("\x1b[2J\x1b]0;owned\x07\u202e\r\n\t漢字🎉", 20_000)
	loop := object{"loopId": "ralph-1", "folder": "file://" + s.box.Dir, "state": "running", "class": "nonsense", "live": true, "busy": true, "owned": true, "text": "1/50 " + nasty, "line": "1/50 " + nasty}
	update := func(u object) object { u["class"] = "warning"; return u }
	told := filepath.Join(s.box.Tmp, "told")
	text := frames(initialized(2),
		object{"jsonrpc": "2.0", "method": "ralph/status", "params": object{"loops": []any{loop}}},
		object{"jsonrpc": "2.0", "method": "ralph/update", "params": object{"loopId": "ralph-1", "updates": []any{
			update(object{"sessionUpdate": "tool_call", "toolCallId": "t", "title": nasty}),
			update(object{"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": object{"type": "text", "text": nasty}}),
			update(object{"sessionUpdate": "_ralph/warning", "text": "mind the gap " + nasty[:300]}),
		}}},
		object{"jsonrpc": "2.0", "method": "ralph/nonsense", "params": 5}, object{"jsonrpc": "2.0", "id": 7, "method": "nonsense/ask"})
	must.OK(t, os.WriteFile(told, []byte(text), 0o600))
	s.tmux("resize-window", "-x", "40", "-y", "40")
	s.tmux("set-option", "-s", "extended-keys", "off")
	s.types("export RALPH_LSP="+sidecar(t, s.program, "cat "+told+"; exec cat >/dev/null"), "Enter")
	s.pi("-e", extension(t))
	s.notes(`▌ Ralph mind the gap`)
	s.notes(`(?m)^ Ralph 1/50 .*\n +● .*\n`)
	s.notes(`(?m)^Ralph 1/50 .*漢`)
	s.tells("Say hello")
	s.sees("Hello to you.")
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// What agents ask is asked one after another, and what needs no answer any more goes.
func TestAgentsAskInsidePi(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{})
	data := must.Read(t, filepath.Join("..", "testdata", "wire", "questions.json"))
	var questions []object
	must.OK(t, json.Unmarshal(data, &questions))
	messages := []any{initialized(2)}
	for i, q := range questions {
		messages = append(messages, object{"jsonrpc": "2.0", "id": i + 1, "method": "ralph/permission", "params": q})
	}
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(p.box.Tmp, name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	asked := file("asked", frames(messages...))
	withdrawn := file("withdrawn", frames(object{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": object{"id": 6}}))
	heard, late := filepath.Join(p.box.Tmp, "heard"), filepath.Join(p.box.Tmp, "late")
	p.box.Setenv("RALPH_LSP", sidecar(t, p, fmt.Sprintf("cat %s; exec 3<&0; cat <&3 >%s & until test -e %s || ! kill -0 $!; do sleep 0.05; done; cat %s; wait", asked, heard, late, withdrawn)))
	answered := func(id int, result string) {
		t.Helper()
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
		poll(p, patience, func() string {
			if data, err := os.ReadFile(heard); !strings.Contains(string(data), want) {
				return fmt.Sprintf("no %s: %v %s", want, err, data)
			}
			return ""
		})
	}
	d := drivenPi(t, p, "-e", extension(t))
	replies := func(title, value string) said {
		t.Helper()
		dialog := d.hears(title)
		d.send(object{"type": "extension_ui_response", "id": dialog.ID, "value": value})
		return dialog
	}
	dialog := replies("Ralph asks: Bash git commit -m wip", "Deny")
	if want := []string{"Deny", "Allow Once", "Allow Bash(git commit:*) in This Loop"}; !slices.Equal(dialog.Options, want) {
		t.Errorf("the choice is %q, want %q", dialog.Options, want)
	}
	replies("Why not?", "not that folder")
	answered(1, `{"answer":"deny","text":"not that folder"}`)
	replies("Ralph scout asks: Edit src/a.go\n--- src/a.go\n+++ src/a.go", "Allow Once")
	answered(2, `{"answer":"once"}`)
	replies("Deploy now?\nTo production.", "No")
	answered(3, `{"answer":"deny"}`)
	replies("Which one?", "production")
	answered(4, `{"answer":"value","text":"production"}`)
	replies("may the loop have 500 iterations instead of 3 iterations?", "Keep the Limits")
	answered(5, `{"answer":"deny"}`)
	d.hears("Which version?")
	file("late", "")
	answered(6, "null")
}
