package backends

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestWhatOfAFileRunsSomething(t *testing.T) {
	claude, err := Lookup("claude")
	must.OK(t, err)
	all := claude
	all.Hooks.Off = nil
	file := claude.Brings[1]
	for _, tt := range []struct {
		b    Backend
		user []string
		text string
		want string
	}{
		{claude, nil, `{"apiKeyHelper": "sh\n  x"}`, `apiKeyHelper = "sh\n x"`},
		{claude, nil, `{"env": {"B": "secret", "A": "1"}}`, `env = A, B`},
		{claude, nil, `{"permissions": {"allow": ["Bash"]}, "env": {}, "awsAuthRefresh": null}`, ""},
		{claude, nil, `{"hooks": {"Stop": [1]}}`, ""},
		{all, nil, `{"hooks": {"Stop": [1]}}`, `hooks = {"Stop": [1]}`},
		{claude, []string{"--settings={}"}, `{"hooks": {"Stop": [1]}}`, `hooks = {"Stop": [1]}`},
		{claude, nil, `{"hooks"`, "what can't be read"},
		{claude, nil, ``, "what can't be read"},
	} {
		if got := tt.b.Wants(file, []byte(tt.text), tt.user); got != tt.want {
			t.Errorf("%s with %q: got %q", tt.text, tt.user, got)
		}
	}
}

func TestWhereAFolderBringsSomething(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("paths of Unix")
	}
	for _, tt := range []struct {
		above bool
		dir   string
		want  string
	}{
		{false, "/home/me/a/b", "/home/me/a/b/x"},
		{true, "/home/me/a/b", "/home/me/a/b/x /home/me/a/x"},
		{true, "/home/me", ""},
		{false, "/home/me", ""},
		{true, "/srv/a", "/srv/a/x /srv/x /x"},
	} {
		if got := (Brought{File: "x", Above: tt.above}).PlacesOf(tt.dir, "/home/me"); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: got %q", tt.dir, got)
		}
	}
}

func TestHooksAreOffUnlessTheUserSaysMore(t *testing.T) {
	claude, err := Lookup("claude")
	must.OK(t, err)
	off := func(b Backend, user ...string) bool {
		return strings.Contains(strings.Join(b.Argv(nil, user), " "), "disableAllHooks")
	}
	with := claude
	with.Hooks.Off = nil
	if !off(claude) || !off(claude.Talking(t.Context(), nil)) || off(claude, "--settings", "mine.json") || off(with) {
		t.Error("hooks run, or they don't, against what its user says")
	}
}
