//go:build unix

package backends

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestAStartThatFailsSaysWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		edit          func(*Spec)
		want          []string
	}{
		{"no interpreter", "#! /no/such/python -u\nprint()\n", nil,
			[]string{"the interpreter of ", "/agent is missing", "names /no/such/python, which", "install"}},
		{"no interpreter by tab", "#!/no/such/python\t-u\n", nil, []string{"names /no/such/python, which"}},
		{"CR LF", "#!/bin/sh\r\nexit\r\n", nil, []string{`"/bin/sh\r"`, "CR LF", "save"}},
		{"no first line", "exit 0\n", nil, []string{"/agent isn't a program that this system can run", "#!/bin/sh"}},
		{"no loader", "\x7fELF\x02\x01\x01", nil, []string{"/agent isn't a program that this system can run"}},
		{"no folder", "#!/bin/sh\n", func(s *Spec) { s.Dir = "/no/such/folder" }, []string{"no folder /no/such/folder", "make it"}},
		{"NUL in an argument", "#!/bin/sh\n", func(s *Spec) { s.Args = []string{"a", "b\x00c"} },
			[]string{`the argument "b\x00c" has a NUL byte (at byte 1)`, "take it out"}},
		{"NUL in the prompt", "#!/bin/sh\n", func(s *Spec) { s.Backend.Prompt = PromptArg; s.Prompt = "ab\x00" },
			[]string{"the prompt has a NUL byte (at byte 2)", "by stdin"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "agent")
			must.OK(t, os.WriteFile(file, []byte(tt.content), 0o755))
			spec := Spec{Backend: Custom(file, nil, PromptStdin, decode.FormatText), Scope: newScope(t), Dir: t.TempDir()}
			if tt.edit != nil {
				tt.edit(&spec)
			}
			p, err := Start(spec)
			if err == nil {
				p.Wait()
				t.Fatal("it started")
			}
			for _, want := range append(tt.want, "starting custom: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "fork/exec") {
				t.Errorf("got %q", err)
			}
		})
	}
}
