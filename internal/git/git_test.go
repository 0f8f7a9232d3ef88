package git

import "testing"

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
