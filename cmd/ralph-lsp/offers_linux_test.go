package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// promisingClaude writes down how it was called, and says that it is done.
const promisingClaude = `#!/bin/sh
case "$1" in --version) echo "2.1.329 (Claude Code)"; exit ;; esac
read -r prompt
echo "$@" >argv
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
echo '{"type":"assistant","session_id":"s","message":{"id":"m1","model":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"<promise>DONE</promise>"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"<promise>DONE</promise>"}'
read -r more || exit 0
`

// inProject makes a folder with a check of its own, and an agent that may run no commands,
// for a user to whom nothing was offered yet.
func inProject(t *testing.T) {
	t.Helper()
	inFolderWithAgent(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	bin := t.TempDir()
	for file, text := range map[string]string{filepath.Join(bin, "claude"): promisingClaude, "Makefile": "test:\n\t@echo ok shop 0.01s\n"} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o700))
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

const runsOpenly = `ralph-lsp run --output console --max-iterations 1 --backend claude --completion-promise DONE Mend it`

var lastNumber = regexp.MustCompile(`write a number from 1 to (\d+)`)

func TestAStartAtATerminalOffersWhatItLeavesOpen(t *testing.T) {
	inProject(t)
	term := runsAt(t, runsOpenly)
	term.await("claude may change files here, and runs no commands but those that its own\r\n")
	term.await("[1] ")
	term.types("none of them\n")
	number := lastNumber.FindStringSubmatch(term.await(", or q to leave [1] "))
	if number == nil {
		t.Fatal("the numbers aren't named")
	}
	term.types(number[1] + "\n")
	term.await("There is Makefile here. Is the loop done only when \"make test\" passes, too?\r\n[Y/n] ")
	term.types("\n")
	term.await("and this passes: make test")
	term.await("verified: make test passed")
	term.await("<ended 0>")
	argv, err := os.ReadFile("argv")
	if err != nil || strings.Contains(string(argv), "allowedTools") {
		t.Errorf("claude was started with %s, %v", argv, err)
	}

	term = runsAt(t, runsOpenly) // what is to stay as it is isn't asked again
	if said := term.await("[Y/n] "); strings.Contains(said, "Let it") {
		t.Errorf("asked again: %s", said)
	}
	term.types("n\n")
	term.await(`nothing verifies that; --verify "make test" would`)
	term.await("<ended 0>")
}

// Enter may be a yes here, and who ends the input hasn't pressed it.
func TestWhoEndsTheInputAtAnOfferStartsNothing(t *testing.T) {
	const permits, verifies = "[1] ", "[Y/n] "
	for _, at := range []struct{ typed, question string }{{"", permits}, {"what?\n", "or q to leave [1] "}, {"1\n", verifies}} {
		for _, ends := range []string{"\x04", "q\n", "1\x04\x04"} { // what was begun isn't said either
			inProject(t)
			term := runsAt(t, runsOpenly)
			term.await(permits)
			term.types(at.typed)
			if at.question != permits {
				term.await(at.question)
			}
			term.types(ends)
			term.await("\r\nralph-lsp: nothing was started\r\n")
			term.await("<ended 1>")
			if _, err := os.Stat("argv"); err == nil {
				t.Errorf("%q at %q started claude", ends, at.question)
			}
			if out, err := exec.Command("ralph-lsp", "status").CombinedOutput(); !strings.Contains(string(out), "no loop") {
				t.Errorf("%q at %q left a loop: %s, %v", ends, at.question, out, err)
			}
		}
	}
}

// Where nobody can answer, nothing is asked, and nothing of the folder's is run.
func TestAStartWithoutATerminalSaysWhatItLeavesOut(t *testing.T) {
	for _, command := range []string{runsOpenly + " </dev/null", runsOpenly + " | cat", strings.Replace(runsOpenly, "console", "json", 1)} {
		inProject(t)
		term := runsAt(t, command)
		said := term.await("<ended 0>")
		if strings.Contains(said, "[Y/n]") || strings.Contains(said, "Let it") || !strings.Contains(said, "nothing verifies that; --verify") {
			t.Errorf("%s: %s", command, said)
		}
	}
}

// refusedClaude is refused a command until it is told that it may run any.
const refusedClaude = `#!/bin/sh
case "$1" in --version) echo "2.1.329 (Claude Code)"; exit ;; esac
read -r prompt
printf '%s\n' "$@" >argv
said='I need to run the tests.' denials='{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make test"}}'
case "$*" in *--allowedTools=Bash*) said='<promise>DONE</promise>' denials= ;; esac
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
echo '{"type":"assistant","session_id":"s","message":{"id":"m1","model":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"'"$said"'"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"'"$said"'","permission_denials":['"$denials"']}'
read -r more || exit 0
`

var resumes = regexp.MustCompile(`to let it ([^:;]+)[^;]*: (ralph-lsp resume [^;\n]+)`)

// A loop whose agent was refused ends with the command lines that let it, as its user can
// copy them from where they are: with the folder, and with the arguments that it has already.
func TestALoopThatWasRefusedNamesTheCommandThatPermits(t *testing.T) {
	inProject(t)
	claude, err := exec.LookPath("claude")
	must.OK(t, err)
	must.OK(t, os.WriteFile(claude, []byte(refusedClaude), 0o700))
	must.OK(t, os.Mkdir("my shop", 0o700))
	run := exec.Command("ralph-lsp", "run", "-C", "my shop", "--backend", "claude", "--backend-arg", "--append-system-prompt", "--backend-arg", "Be brief.", "--completion-promise", "DONE", "Mend it")
	out, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the agent was refused permission (refused: Bash make test)") {
		t.Fatalf("%v: %s", err, out)
	}
	lines := make(map[string]string)
	for _, m := range resumes.FindAllStringSubmatch(string(out), -1) {
		lines[m[1]] = m[2]
	}
	here, err := os.Getwd()
	must.OK(t, err)
	in := "ralph-lsp resume -C '" + filepath.Join(here, "my shop") + "' "
	if got, want := lines["ask you before it runs a command"], in+"--permissions ask"; got != want {
		t.Errorf("to be asked: %q, want %q", got, want)
	}
	const arguments = "--backend-arg --append-system-prompt --backend-arg 'Be brief.' --backend-arg --allowedTools=Bash"
	if got, want := lines["run any command, as you may"], in+arguments; got != want {
		t.Fatalf("to run any: %q, want %q", got, want)
	}
	if out, err := exec.Command("sh", "-c", lines["run any command, as you may"]).CombinedOutput(); err != nil || !strings.Contains(string(out), "done: DONE") {
		t.Errorf("%v: %s", err, out)
	}
	argv, err := os.ReadFile(filepath.Join("my shop", "argv"))
	if err != nil || !strings.Contains(string(argv), "--append-system-prompt\nBe brief.\n--allowedTools=Bash\n") {
		t.Errorf("claude was resumed with %s, %v", argv, err)
	}
}
