package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// user is somebody who calls the program in a folder.
type user struct {
	folder string
	stdin  string
}

// calls runs the program in this process.
func (u user) calls(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(args, strings.NewReader(u.stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func newUser(t *testing.T) user {
	t.Helper()
	u := user{folder: t.TempDir()}
	t.Chdir(u.folder)
	t.Setenv("PATH", t.TempDir()) // no agent is installed
	return u
}

const brokenState = "---\nactive: true\niteration: three\n---\n\nDo it\n"

// Bad input gets one clear line on stderr and exit code 1, and loses nothing.
func TestBadInput(t *testing.T) {
	tests := []struct {
		name  string
		given func(t *testing.T) // what is in the folder
		args  []string
		want  string // regular expression
	}{
		{"misspelt flag", nil, []string{"run", "--max-iteration", "3", "Do it"}, `^unknown flag --max-iteration; did you mean --max-iterations\? \(put text that begins with - after --\)$`},
		{"misspelt flag behind the prompt", nil, []string{"run", "Do", "it", "--max_iterations=3"}, `unknown flag --max_iterations; did you mean --max-iterations\?`},
		{"unknown flag", nil, []string{"run", "Do it", "--frobnicate"}, `unknown flag --frobnicate; see ralph-lsp help run`},
		{"unknown short flag", nil, []string{"run", "-x", "Do it"}, `unknown flag -x; see ralph-lsp help run`},
		{"unknown flag of another command", nil, []string{"status", "--jsn"}, `unknown flag --jsn; did you mean --json\?$`},
		{"unknown command", nil, []string{"statsu"}, `unknown command "statsu"; did you mean status\?`},
		{"misspelt flag of which there is a part only", nil, []string{"run", "--promt", "Do it"}, `unknown flag --promt; did you mean --prompt-file\?`},
		{"unknown command of a command", nil, []string{"history", "shwo"}, `unknown command "history shwo"; did you mean history show\?`},
		{"unknown shell", nil, []string{"completion", "foo"}, `unknown command "completion foo"; known are bash, fish, powershell, zsh`},
		{"a command that needs another", nil, []string{"completion"}, `completion needs a command: bash, fish, powershell, zsh; see ralph-lsp help completion`},
		{"help for a word behind a command", nil, []string{"help", "run", "extra"}, `run has no commands, so there is no help for "extra"`},
		{"help for an unknown command", nil, []string{"help", "statsu"}, `unknown command "statsu"; did you mean status\?`},
		{"help for an unknown command of a command", nil, []string{"help", "history", "shwo"}, `did you mean history show\?`},
		{"a prompt without run", nil, []string{"Make the tests pass"}, `unknown command "Make the tests pass"; a loop starts with ralph-lsp run`},
		{"flag without its value", nil, []string{"run", "Do it", "--prompt-file"}, `--prompt-file needs a value`},
		{"no prompt", nil, []string{"run"}, `the prompt is empty; give it as words`},
		{"a prompt of white space", nil, []string{"run", " \n\t"}, `the prompt is empty`},
		{"missing prompt file", nil, []string{"run", "--prompt-file", "PROMT.md"}, `there is no prompt file PROMT.md; make it, or`},
		{"empty prompt file", func(t *testing.T) { must.Write(t, "PROMPT.md", "\n") }, []string{"run", "--prompt-file", "PROMPT.md"}, `the prompt in PROMPT.md is empty`},
		{"prompt file that is a folder", nil, []string{"run", "--prompt-file", "."}, `reading the prompt: read \.: is a directory`},
		{"empty standard input", nil, []string{"run", "--prompt-file", "-"}, `the prompt in - is empty`},
		{"two prompts", func(t *testing.T) { must.Write(t, "PROMPT.md", "Do it") }, []string{"run", "--prompt-file", "PROMPT.md", "Do", "that"}, `there are two prompts: --prompt-file PROMPT.md and the words "Do that"`},
		{"negative iterations", nil, []string{"run", "--max-iterations", "-3", "Do it"}, `--max-iterations is "-3"; write a whole number, 0 or more`},
		{"iterations in words", nil, []string{"run", "--max-iterations", "ten", "Do it"}, `--max-iterations is "ten"; write a whole number, 0 or more`},
		{"too many iterations", nil, []string{"run", "--max-iterations", "99999999999999999999", "Do it"}, `is "99999999999999999999"; write a smaller number`},
		{"cost that is no number", nil, []string{"run", "--max-cost", "NaN", "Do it"}, `--max-cost is "NaN"; write an amount in US dollars such as 5.00`},
		{"infinite cost", nil, []string{"run", "--max-cost", "inf", "Do it"}, `--max-cost is "inf"; write an amount`},
		{"negative cost", nil, []string{"run", "--max-cost=-1", "Do it"}, `--max-cost is "-1"; write an amount`},
		{"time without a unit", nil, []string{"run", "--max-time", "10", "Do it"}, `--max-time is "10"; write it with its unit: 10s, 10m or 10h`},
		{"time that is no time", nil, []string{"run", "--idle-timeout", "soon", "Do it"}, `--idle-timeout is "soon"; write a duration such as "90m" or "4h"`},
		{"negative time", nil, []string{"run", "--max-time", "-5m", "Do it"}, `--max-time is "-5m"; write a duration`},
		{"unknown output style", nil, []string{"run", "--output", "prety", "Do it"}, `--output: "prety" is unknown: did you mean pretty\? known are pretty, console, quiet, json`},
		{"unknown backend", nil, []string{"run", "--backend", "cluade", "Do it"}, `unknown backend "cluade": did you mean claude\?`},
		{"backend program that isn't there", nil, []string{"run", "--backend", "./my-agent", "Do it"}, `no program .*/my-agent`},
		{"format for a known backend", nil, []string{"run", "--backend", "pi", "--backend-output", "text", "Do it"}, `--backend-output and --backend-prompt go with a program of your own`},
		{"no backend", nil, []string{"run", "Do it"}, `^no agent is installed; ralph-lsp doctor says how to install one$`},
		{"a backend that isn't installed", nil, []string{"run", "--backend", "pi", "Do it"}, `^pi is not installed: npm install `},
		{"promise with its tags", nil, []string{"run", "--backend", "./agent", "--completion-promise", "<promise>DONE</promise>", "Do it"}, `leave out <promise> and </promise>`},
		{"missing folder", nil, []string{"run", "-C", "nowhere", "Do it"}, `the folder .*/nowhere doesn't exist; make it first`},
		{"folder that is a file", func(t *testing.T) { must.Write(t, "file", "") }, []string{"status", "-C", "file"}, `/file isn't a folder`},
		{"folder that can't be written", func(t *testing.T) { must.Write(t, ".pi", "a file in the place of the folder") }, []string{"run", "--backend", os.Args[0], "Do it"}, `\.pi`},
		{"broken state file", func(t *testing.T) { must.Write(t, loopstate.Name, brokenState) }, []string{"run", "--backend", os.Args[0], "Do it"}, `ralph-loop\.local\.md:3: .*iteration`},
		{"broken state file, status", func(t *testing.T) { must.Write(t, loopstate.Name, brokenState) }, []string{"status"}, `ralph-loop\.local\.md:3: .*iteration`},
		{"broken state file, cancel", func(t *testing.T) { must.Write(t, loopstate.Name, brokenState) }, []string{"cancel"}, `iteration is "three".*\(or delete the file, which discards the loop\)$`},
		{"a loop that was interrupted", interruptedLoop, []string{"run", "--backend", os.Args[0], "Do it"}, `holds a loop that stopped at iteration 3/50: continue it or cancel it first \(ralph-lsp resume, ralph-lsp cancel, or run --replace\)$`},
		{"a loop that is running", runningLoop, []string{"run", "--backend", os.Args[0], "Do it"}, `a loop is already running in .* \(process \d+ on .* since .*\): cancel it first with ralph-lsp cancel, or start with run --replace; watch it with ralph-lsp status$`},
		{"a loop in another folder", loopIn("an app"), []string{"run", "-C", "an app", "--backend", os.Args[0], "Do it"}, `\(ralph-lsp resume -C '/.*/an app', ralph-lsp cancel -C '/.*/an app', or run --replace\)$`},
		{"a loop that is to go on and to go", interruptedLoop, []string{"run", "--continue", "--replace"}, `^--continue goes on with the loop that --replace would discard; leave one of them out$`},
		{"a start that can't take the place", interruptedLoop, []string{"run", "--replace", "--backend", "./agent", "--backend-prompt", "arg", strings.Repeat("long ", 1<<18)}, `the prompt has \d+ bytes`},
		{"nothing to continue", nil, []string{"run", "--continue"}, `there is no loop here to continue`},
		{"a prompt for a loop that goes on", interruptedLoop, []string{"run", "--continue", "Do that"}, `--continue goes on with the prompt in the state file`},
		{"nothing to steer", nil, []string{"steer", "Be quick"}, `no loop is running here`},
		{"no format", nil, []string{"decode", "file"}, `--format is missing`},
		{"a folder to decode", nil, []string{"decode", "--format", "pi", "."}, `^\. is a folder; give a recorded stream`},
		{"words for a command that takes none", nil, []string{"cancel", "now"}, `cancel takes no arguments, but got "now"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := newUser(t)
			if tt.given != nil {
				tt.given(t)
			}
			must.Write(t, "agent", "")
			must.OK(t, os.Chmod("agent", 0o755))
			before := folderText(t, u.folder)
			code, stdout, stderr := u.calls(tt.args...)
			line, one := strings.CutSuffix(stderr, "\n")
			line, ours := strings.CutPrefix(line, "ralph-lsp: ")
			if code != terminal.ExitFailed || stdout != "" || !one || !ours || strings.Contains(line, "\n") {
				t.Errorf("exit code %d, stdout %q, stderr %q; want one line", code, stdout, stderr)
			}
			if !regexp.MustCompile(tt.want).MatchString(line) {
				t.Errorf("got  %s\nwant %s", line, tt.want)
			}
			if after := folderText(t, u.folder); after != before {
				t.Errorf("the folder changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// folderText is all that is in a folder's files.
func folderText(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.WriteString(path + ": " + string(data) + "\n")
		return err
	})
	must.OK(t, err)
	return all.String()
}

func interruptedLoop(t *testing.T) {
	must.Write(t, loopstate.Name, "---\nactive: true\niteration: 3\nmax_iterations: 50\ncompletion_promise: null\nstarted_at: \"2026-01-02T17:35:07Z\"\n---\n\nDo it\n")
}

func loopIn(folder string) func(t *testing.T) {
	return func(t *testing.T) {
		must.Write(t, filepath.Join(folder, loopstate.Name), "---\nactive: true\niteration: 3\n---\nDo it\n")
	}
}

// runningLoop holds the folder's lock as a loop of another process does.
func runningLoop(t *testing.T) {
	interruptedLoop(t)
	file, err := loopstate.Open(".")
	must.OK(t, err)
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), Host: "here", StartedAt: time.Now(), LoopID: "ralph-1"})
	must.OK(t, err)
	t.Cleanup(func() { _ = lock.Release() })
}

// What a dead process left locked is taken over.
func TestLockOfADeadProcessIsTakenOver(t *testing.T) {
	u := newUser(t)
	must.Write(t, filepath.Join(filepath.Dir(loopstate.Name), "ralph-loop.local.lock"), `{"pid":1,"host":"here","loopId":"ralph-dead"}`)
	code, stdout, stderr := u.calls("status")
	if code != terminal.ExitDone || !strings.HasPrefix(stdout, "no loop in ") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

func TestGivenPrompt(t *testing.T) {
	u := newUser(t)
	odd := "---\niteration: 9\r\n\n-x @file \u00ff\x1b $HOME\n\n"
	must.Write(t, "PROMPT.md", odd)
	tests := []struct {
		name  string
		words []string
		file  string
		stdin string
		want  string
	}{
		{"words", []string{"Make", "the", "tests pass"}, "", "", "Make the tests pass"},
		{"one argument, byte for byte", []string{" a\n  b\t"}, "", "", " a\n  b\t"},
		{"a file, byte for byte", nil, "PROMPT.md", "", odd},
		{"standard input, byte for byte", nil, "-", odd, odd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := start.Asked{Words: tt.words, File: tt.file}.Prompt(t.Context(), strings.NewReader(tt.stdin))
			if err != nil || got != tt.want {
				t.Errorf("in %s: got %q (%v), want %q", u.folder, got, err, tt.want)
			}
		})
	}
	for name, stdin := range map[string]string{"PROMPT.md": "", "-": "Mend\n\xff"} { // what no model would read as its user wrote it
		must.Write(t, "PROMPT.md", "Mend\n\xff")
		if got, err := (start.Asked{File: name}).Prompt(t.Context(), strings.NewReader(stdin)); err == nil || !strings.HasPrefix(err.Error(), name+":2: column 1 has the byte 0xFF") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNoCommandPrintsAFoldersNameAsItIs(t *testing.T) {
	u := newUser(t)
	dir := filepath.Join(u.folder, "x\x1b[2J\u202ey\u009bz")
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[backends.mine]\ncommand = \"./\u202e\u200bevil\"\n")
	must.Write(t, filepath.Join(dir, "bad", "ralph.toml"), "\"a\u202eb\" = 3\nbackend = \"x\u202e\u009by\"\n")
	must.Write(t, filepath.Join(dir, "left", ".pi/ralph-loop.local.md"), "---\nactive: true\niteration: 1\nbackend: \"p\\e[31m\u202ei\"\ncompletion_promise: \"\u202eX\u200b\"\nmax_iterations: 3\n---\n\nDo it\n")
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"cancel"}, {"pause"}, {"resume"}, {"steer", "x"}, {"doctor"}, {"doctor", "--json"}, {"history"}, {"history", "--json"},
		{"history", "show"}, {"history", "show", "no\u202esuch"}, {"run", "Do it"}, {"run", "--prompt-file", "no\u202e\x1b[1m"},
		{"run", "--backend", "\u202e\x1b[1m", "x"}, {"run", "--hat", "\u202e\x1b[1m", "x"}, {"run", "--\u202e\x1b[1m"}, {"run", "--continue"}, {"trust"}, {"trust", "--forget"}, {"plan"},
	} {
		for _, sub := range []string{"", "bad", "left", "no\u202ewhere"} {
			code, out, errs := u.calls(append(slices.Clone(args), "-C", filepath.Join(dir, sub))...)
			for _, text := range []string{out, errs} {
				if stream.Sanitize(text) != text || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && stream.IsHidden(r) }) {
					t.Errorf("%q in %q (%d): %q", args, sub, code, text)
				}
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
}
