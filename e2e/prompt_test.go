//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph-lsp/internal/fakemodel"
)

// TestPromptsArriveIntact gives prompts that a command line, a shell or the
// agents themselves would take for something else.
func TestPromptsArriveIntact(t *testing.T) {
	prompts := []struct {
		name, text string
		inFile     bool
	}{
		{"dash", "-rf is what this begins with", false},
		{"option", "--max-iterations is what this begins with", false},
		{"at sign", "@README.md is not there", false},
		{"command", "/compact is a command of both agents", false},
		{"shell", "`id` $HOME \"quoted\" 'single' \\ & | > \n\n two lines", false},
		{"one megabyte", strings.Repeat("do 1 → then 2; ", 1<<16), true},
	}
	for _, tt := range prompts {
		for _, a := range both {
			t.Run(tt.name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{says("<promise>DONE</promise>")}})
				args := []string{"--max-iterations", "1", "--completion-promise", "DONE"}
				if tt.inFile {
					file := filepath.Join(p.box.Home, "prompt.md")
					if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
						t.Fatal(err)
					}
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
