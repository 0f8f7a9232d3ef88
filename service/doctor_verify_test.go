package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestTheDoctorSaysWhatVerifies(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const all = `changes.keep = "0"
[verify]
command = "make check"
protect = ["*_test.go"]
diagnostics = "no_new_errors"
reviewer = "critic"
[hats.critic]
backend = "claude"
`
	for _, tt := range []struct {
		file string
		want []string
	}{
		{"", []string{"+verify: nothing verifies a promise: the agent's word counts"}},
		{all, []string{
			"-verify.command: the check `make check` can't be run: make is in no folder of PATH", "-verify.reviewer: claude", "-verify.protect: without snapshots",
			"+verify: a promise is verified by make check (your config.toml) · the editor shows no new errors (your config.toml) · no protected file was changed (*_test.go) (your config.toml) · the reviewer critic approves (your config.toml)",
			"+verify.diagnostics: the editor's diagnostics need an attached editor",
		}},
		{"verify.reviewer = \"nobody\"\n", []string{"-verify.reviewer: the reviewer: there is no hat", "+verify: a promise is verified by the reviewer nobody approves"}},
	} {
		files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
		must.OK(t, os.WriteFile(filepath.Join(files.UserDir, config.UserName), []byte(tt.file), 0o600))
		var got []string
		s := &Service{Files: func(string) config.Files { return files }}
		for _, c := range s.Doctor(t.Context(), "test", files.Folder).Checks {
			if strings.HasPrefix(c.ID, "verify") {
				got = append(got, map[bool]string{true: "+", false: "-"}[c.OK]+c.ID+": "+c.Message)
			}
		}
		for i, want := range tt.want {
			if len(got) != len(tt.want) || !strings.HasPrefix(got[i], want) {
				t.Errorf("got\n%s", strings.Join(got, "\n"))
				break
			}
		}
	}
}
