//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// TestPromptsArriveIntact gives prompts that a command line, a shell or the
// agents themselves would take for something else.
func TestPromptsArriveIntact(t *testing.T) {
	prompts := []struct {
		name, text string
		inFile     bool
	}{
		{"at sign, options and shell", "@README.md is not there, --max-iterations `id` $HOME \"quoted\" 'single' \\ & | > \n\n two lines", false},
		{"command, and one megabyte", "/compact is a command of both agents " + strings.Repeat("do 1 → then 2; ", 1<<16), true},
	}
	for _, tt := range prompts {
		for _, run := range modes {
			a := run.agent
			t.Run(tt.name+"/"+a.name+run.flag, func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{says("<promise>DONE</promise>")}})
				args := []string{"--max-iterations", "1", "--completion-promise", "DONE", run.flag}
				if tt.inFile {
					file := filepath.Join(p.box.Home, "prompt.md")
					must.OK(t, os.WriteFile(file, []byte(tt.text), 0o600))
					args = append(args, "--prompt-file", file)
				} else {
					args = append(args, "--", tt.text)
				}
				p.start(args...)
				if exit := p.wait(); exit != exitDone {
					p.fatalf("exit %d", exit)
				}
				requests := p.model.MainRequests()
				if len(requests) != 1 {
					p.fatalf("%d requests, want 1", len(requests))
				}
				if want := strings.TrimSpace(tt.text); !strings.Contains(requests[0].LastUser, want) {
					p.fatalf("the model was told %.300q", requests[0].LastUser)
				}
			})
		}
	}
}

// TestAPromptAsAnArgumentRunsNothing gives prompts that would be options, or
// the names of files, if an agent took them for more than a prompt.
func TestAPromptAsAnArgumentRunsNothing(t *testing.T) {
	ofClaude := []string{`--settings={"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch RAN"}]}]}}`, "@SECRET", "-"}
	for _, a := range append(both, pi073) {
		prompts := map[string][]string{"claude": ofClaude, "pi": {"--extension=./evil.ts", "@SECRET", "-"}, pi073.name: {"-e./evil.ts", "@SECRET"}}[a.name]
		for _, prompt := range prompts {
			t.Run(a.name+"/"+prompt[:min(len(prompt), 12)], func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{says("<promise>DONE</promise>")}})
				ran := filepath.Join(p.box.Dir, "RAN")
				p.box.WriteJSON(t, ".config/ralph-lsp/none.json", nil) // makes the folder
				for file, text := range map[string]string{
					filepath.Join(p.box.Home, ".config/ralph-lsp/config.toml"): "[backends." + a.backend + "]\nprompt = \"arg\"\n",
					filepath.Join(p.box.Dir, "evil.ts"):                        "require('fs').writeFileSync('RAN', ''); export default function () {}\n",
					filepath.Join(p.box.Dir, "SECRET"):                         "the secret text",
				} {
					must.OK(t, os.WriteFile(file, []byte(text), 0o600))
				}
				p.start("--max-iterations", "1", "--completion-promise", "DONE", "--", prompt)
				exit := p.wait()
				if _, err := os.Stat(ran); err == nil {
					p.fatalf("the prompt ran a command")
				}
				requests := p.model.MainRequests()
				if exit != exitDone || len(requests) != 1 {
					p.fatalf("exit %d, %d requests", exit, len(requests))
				}
				// claude looks into files that a prompt mentions, however it came.
				isRead := a.name != "claude" && strings.Contains(requests[0].LastUser, "secret text")
				if told := requests[0].LastUser; !strings.Contains(told, prompt) || isRead {
					p.fatalf("the model was told %.300q", told)
				}
			})
		}
	}
}
