package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestMainLineIsWhatGitGaveUpFor(t *testing.T) {
	if got := mainLine("fatal: Unable to create 'x.lock': File exists.\n\nAnother git process seems to be running in this repository.\nremove the file manually to continue."); got != "Unable to create 'x.lock': File exists." {
		t.Errorf("%q", got)
	}
	const why = "git-lfs filter-process: 1: git-lfs: not found"
	for complaint, want := range map[string]string{
		why + "\nfatal: the remote end hung up unexpectedly\n":                                                        "the remote end hung up unexpectedly (" + why + ")",
		"Preparing worktree (detached HEAD a2b9be7)\n" + why + "\nerror: x\nfatal: x.bin: smudge filter lfs failed\n": "x.bin: smudge filter lfs failed (" + why + ")",
		"error: x\nfatal: x.bin: clean filter 'lfs' failed\n":                                                         "x.bin: clean filter 'lfs' failed",
		"warning: x\nfatal: y": "y",
	} {
		if got := mainLine(complaint); got != want {
			t.Errorf("%q", got)
		}
	}
	if got := mainLine("fatal: the remote end hung up unexpectedly"); got != "the remote end hung up unexpectedly" {
		t.Errorf("%q", got)
	}
	if got := mainLine("error: this\nthat\n"); got != "that" {
		t.Errorf("%q", got)
	}
}

// What is set for a new folder's files is so for no other git.
func TestSeveralWriteTheFilesOfANewFolder(t *testing.T) {
	program, err := Find()
	must.OK(t, err)
	g := Git{Program: program, Dir: t.TempDir(), Settings: make([]string, 0, 9), Env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}}
	for name, test := range map[string]struct {
		git  Git
		want string
	}{
		"afresh":    {g.Afresh(), "0"},
		"any other": {g, "none"},
	} {
		if got, err := test.git.Text(t.Context(), nil, "config", "--default", "none", "--get", "checkout.workers"); err != nil || got != test.want {
			t.Errorf("%s: %q workers, %v", name, got, err)
		}
	}
}

// The system says of git's program what it means of the folder.
func TestANameWithANUL(t *testing.T) {
	program, err := Find()
	if err != nil {
		t.Skip(err)
	}
	if _, err := (Git{Program: program, Dir: t.TempDir()}).Run(t.Context(), nil, "log", "--", "a\x00b"); err == nil || err.Error() != `git log: "a\x00b" has a NUL byte, which no path and no name can have` {
		t.Errorf("it says %v", err)
	}
}

func TestAFolderThatIsGone(t *testing.T) {
	program, err := Find()
	must.OK(t, err)
	gone := filepath.Join(t.TempDir(), "gone")
	if _, err := (Git{Program: program, Dir: gone}).Text(t.Context(), nil, "status"); err == nil || !strings.Contains(err.Error(), gone) || strings.Contains(err.Error(), program) {
		t.Error(err)
	}
}
