package git

import "testing"

func TestMainLineIsWhatGitGaveUpFor(t *testing.T) {
	if got := mainLine("fatal: Unable to create 'x.lock': File exists.\n\nAnother git process seems to be running in this repository.\nremove the file manually to continue."); got != "Unable to create 'x.lock': File exists." {
		t.Errorf("%q", got)
	}
	if got := mainLine("error: this\nthat\n"); got != "that" {
		t.Errorf("%q", got)
	}
}
