package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// askingClaude speaks as claude does when it wants to use a tool.
const askingClaude = `#!/bin/sh
read -r prompt
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"t1"}}'
read -r answer
case "$answer" in
*'"allow"'*) said="I pushed it. <promise>DONE</promise>" ;;
*'not that branch'*) said="I leave it. <promise>DONE</promise>" ;;
*) said="What?" ;;
esac
echo '{"type":"assistant","session_id":"s","message":{"id":"m1","model":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"'"$said"'"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"'"$said"'"}'
read -r more || exit 0
`

const runsAsking = `ralph-lsp run --output console --max-iterations 1 --backend claude --permissions ask --completion-promise DONE Push it`

func inFolderWithClaude(t *testing.T) {
	t.Helper()
	inFolderWithAgent(t)
	bin := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(askingClaude), 0o700))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// answers types an answer until it comes late enough for its user to have read the question.
func (term *testTerminal) answers(words string) (said string) {
	for {
		term.types(words + "\n")
		term.await(words + "\r\n")
		if said = term.await("\r\n"); !strings.Contains(said, "came before") {
			return said
		}
	}
}

func TestAnAgentIsAnsweredInItsTerminal(t *testing.T) {
	for words, want := range map[string]string{"once": "allowed once: Bash git push", "loop": "in this loop: Bash(git push)", "no not that branch": "denied: Bash git push: not that branch"} {
		inFolderWithClaude(t)
		term := runsAt(t, runsAsking)
		term.await("asks: Bash git push")
		term.await("deny [words for the agent], once, loop (Bash(git push))?")
		for _, nothing := range []string{"\n", "maybe\n"} {
			term.types(nothing)
			term.await("deny [words")
		}
		if said := term.answers(words); !strings.Contains(said, want) {
			t.Errorf("after %q: %q", words, said)
		}
		term.await("done: DONE")
		term.await("<ended 0>")
	}
}

// Without a terminal a question waits, says how to answer it, and is answered from elsewhere.
func TestAnAgentIsAnsweredFromAnotherTerminal(t *testing.T) {
	inFolderWithClaude(t)
	owner := runsAt(t, runsAsking+" </dev/null")
	owner.await("ralph-lsp answer -C ")
	var st loop.Status
	proctest.Until(t, "the state file has the question, which follows what is printed", func() bool {
		var err error
		if st, err = loop.FolderStatus("."); err != nil {
			t.Fatal(err)
		}
		return len(st.Questions) > 0
	})
	if st.State != loop.StateWaiting || len(st.Questions) != 1 {
		t.Errorf("%s: %+v", st.State, st.Questions)
	}
	out, err := exec.Command("ralph-lsp", "status").Output()
	if err != nil || !strings.Contains(string(out), "asks: Bash git push") {
		t.Errorf("status: %v, %s", err, out)
	}
	shown, err := exec.Command("ralph-lsp", "answer").Output()
	if err != nil || !strings.Contains(string(shown), "asks: Bash git push ["+st.Questions[0].ID+"]") {
		t.Errorf("answer: %v, %s", err, shown)
	}
	if out, err := exec.Command("ralph-lsp", "answer", "maybe").CombinedOutput(); err == nil {
		t.Errorf("no answer is taken: %s", out)
	}
	if out, err := exec.Command("ralph-lsp", "answer", "deny", "not", "that", "branch").CombinedOutput(); err != nil || !strings.Contains(string(out), "denied: Bash git push: not that branch") {
		t.Errorf("%v: %s", err, out)
	}
	owner.await("denied: Bash git push")
	owner.await("<ended 0>")
	if out, err := exec.Command("ralph-lsp", "answer", "deny").CombinedOutput(); err == nil {
		t.Errorf("the loop is over, and takes an answer: %s", out)
	}
}

// A loop that nobody looks at is answered by the command that its user has set, in the user's own file alone. What goes wrong
// there stands in the log of its process.
func TestAnAgentIsAnsweredByACommand(t *testing.T) {
	for name, tt := range map[string]struct{ own, folder, want, log string }{
		"once":                 {"echo once", "", "allowed once: Bash git push", ""},
		"the folder's is none": {"echo deny not that branch", "echo once", "denied: Bash git push: not that branch", ""},
		"wrong":                {"echo sure", "", "denied: Bash git push: by hand", `"sure" is no answer: deny [words for the agent], once`},
	} {
		t.Run(name, func(t *testing.T) {
			inFolderWithClaude(t)
			state, config := t.TempDir(), filepath.Join(t.TempDir(), "ralph-lsp")
			t.Setenv(paths.EnvState, state)
			t.Setenv("XDG_CONFIG_HOME", filepath.Dir(config))
			insist(os.Mkdir(config, 0o700))
			for file, script := range map[string]string{filepath.Join(config, "config.toml"): tt.own, "ralph.toml": tt.folder} {
				if script != "" {
					insist(os.WriteFile(file, []byte(`notify.reply = ["sh", "-c", "`+script+`"]`+"\n"), 0o600))
				}
			}
			out, err := exec.Command("sh", "-c", strings.Replace(runsAsking, "--output console", "--detach", 1)).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if told := strings.Contains(string(out), "can't say this for you: notify.reply"); told != (tt.folder != "") {
				t.Errorf("the start says %s", out)
			}
			kept := func(name string) string {
				found, _ := filepath.Glob(filepath.Join(state, "loops", "*", name))
				text := ""
				for _, file := range found {
					data, _ := os.ReadFile(file)
					text += string(data)
				}
				return text
			}
			if tt.log != "" { // the question waits
				proctest.Until(t, "the log", func() bool { return strings.Contains(kept("keeper.log"), tt.log) })
				if out, err := exec.Command("ralph-lsp", "answer", "deny", "by", "hand").CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			proctest.Until(t, "its end", func() bool { return strings.Contains(kept("journal.jsonl"), `"_ralph/end"`) })
			if story := kept("journal.jsonl"); !strings.Contains(story, tt.want) {
				t.Errorf("want %q in %s", tt.want, story)
			}
			if log := kept("keeper.log"); (log == "") != (tt.log == "") || !strings.Contains(log, tt.log) {
				t.Errorf("the log has %q, want %q", log, tt.log)
			}
		})
	}
}

// Who comes back with fg sees again what is asked, and what was typed before Ctrl-Z or for the
// shell answers nothing.
func TestCtrlZWhileAnAgentAsks(t *testing.T) {
	inFolderWithClaude(t)
	must.Write(t, "script.sh", "set -m\n"+runsAsking+`
echo "<stopped>"; read _
bg; echo "<behind>"; read _
fg; echo "<ended $?>"
`)
	term := newTestTerminal(t, exec.Command("sh", "script.sh"))
	const asks = "deny [words for the agent], once, loop (Bash(git push))?"
	term.await(asks)
	term.types("onc")
	term.await("onc")
	term.types("\x1a")
	term.await("<stopped>")
	term.types("\n")
	term.await("<behind>")
	term.types("once\n") // the shell reads it
	if again := term.await(asks); !strings.Contains(again, "asks: Bash git push [") || strings.Contains(again, "allowed") {
		t.Errorf("it is asked again with %q", again)
	}
	const no = "no not that branch\n"
	term.types(no)
	for said := ""; !strings.Contains(said, "denied: Bash git push: not that branch"); said = term.await("\r\n") { // the shell may have said twice that we go on
		if strings.Contains(said, "came before") {
			term.types(no)
		}
	}
	term.await("<ended 0>")
}
