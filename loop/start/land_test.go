package start

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

func TestParseLanding(t *testing.T) {
	l, err := ParseLanding(`fix-it --squash -m 'Fix it' --keep`)
	if err != nil || l != (Landing{Name: "fix-it", Message: "Fix it", Squash: true, Keep: true}) {
		t.Errorf("%+v %v", l, err)
	}
	if how, err := l.How(); err != nil || how != worktree.HowSquash {
		t.Errorf("%s %v", how, err)
	}
	if l, err := ParseLanding(""); err != nil || l != (Landing{}) {
		t.Errorf("%+v %v", l, err)
	}
	for text, want := range map[string]string{"a b": "takes one loop", "--sqash": "--squash", "-m 'x": "never closed", "--help": "isn't a flag"} {
		if _, err := ParseLanding(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, l := range []Landing{{Squash: true, Rebase: true}, {Discard: true, Keep: true}, {Discard: true, Message: "x"}} {
		if _, err := l.How(); err == nil {
			t.Errorf("%+v goes together", l)
		}
	}
}
