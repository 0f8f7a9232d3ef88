package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph-lsp/verify"
)

func TestACheckIsAListOrAText(t *testing.T) {
	for _, tt := range []struct {
		file string
		want verify.Check
	}{
		{"verify.command = [\"go\", \"test\", \"./...\"]\n", verify.Check{Command: []string{"go", "test", "./..."}, When: verify.OnPromise, Timeout: 10 * time.Minute, MaxFailures: 5}},
		{"[verify]\ncommand = \"npm test && npm run lint\"\nwhen = \"each\"\ntimeout = \"0\"\nmax_failures = 2\n", verify.Check{Shell: "npm test && npm run lint", When: verify.OnEach, MaxFailures: 2}},
		{"", verify.Check{When: verify.OnPromise, Timeout: 10 * time.Minute, MaxFailures: 5}},
	} {
		got := load(t, place(t, "", tt.file)).Verify
		if !slices.Equal(got.Command, tt.want.Command) || got.String() != tt.want.String() || got.When != tt.want.When || got.Timeout != tt.want.Timeout || got.MaxFailures != tt.want.MaxFailures {
			t.Errorf("%s: got %+v", tt.file, got)
		}
	}
	for file, want := range map[string]string{
		"verify.command = []":            "is empty",
		"verify.command = \" \"":         "is empty",
		"verify.command = [\"\"]":        "is empty",
		"verify.command = [\"go\", 3]":   "item 2",
		"verify.command = 3":             "a list such as",
		"verify.command = \"a\\u0000b\"": "NUL",
		"verify.when = \"sometimes\"":    "promise, each",
		"verify.comand = \"make\"":       "did you mean command?",
	} {
		_, err := place(t, "", file).Load()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The user's own command takes the place of none and of another kind.
func TestAFoldersCheckReplacesTheUsersAsAWhole(t *testing.T) {
	f := place(t, "verify.command = \"make\"", "verify.command = [\"go\", \"test\"]\nverify.timeout = \"1m\"")
	f.Trusted = true
	if got := load(t, f).Verify; got.Shell != "make" || got.Command != nil || got.Timeout != time.Minute {
		t.Errorf("got %+v", got)
	}
}

func TestAFolderDoesNotLoosenTheUsersCheck(t *testing.T) {
	f := place(t, "[verify]\nwhen = \"promise\"\ntimeout = \"1ms\"\nmax_failures = 0\n", "verify.command = \"make\"\nverify.when = \"each\"")
	s := load(t, f)
	if s.Verify.Shell != "make" || s.Verify.When != verify.OnEach || s.Verify.Timeout != 10*time.Minute || s.Verify.MaxFailures != 5 || len(s.Held) != 3 {
		t.Errorf("got %+v, held %+v", s.Verify, s.Held)
	}
}

func TestTheCheckOfALoopIsRemembered(t *testing.T) {
	f := place(t, "", "")
	check := verify.Check{Command: []string{"go", "test"}, When: verify.OnUntil, Timeout: time.Minute, MaxFailures: 3}
	if err := f.RememberCheck("ralph-1", check); err != nil {
		t.Fatal(err)
	}
	if got := f.CheckOf("ralph-1"); got.String() != check.String() || got.When != check.When || got.Timeout != check.Timeout {
		t.Errorf("got %+v", got)
	}
	for what, got := range map[string]verify.Check{"another loop": f.CheckOf("ralph-2"), "none": f.CheckOf("")} {
		if got.IsSet() {
			t.Errorf("%s has %+v", what, got)
		}
	}
	if err := f.RememberCheck("ralph-2", verify.Check{}); err != nil || f.CheckOf("ralph-1").IsSet() {
		t.Errorf("it outlives its loop: %v", err)
	}
	name := filepath.Join(f.UserDir, "trusted", f.checkHash())
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", name, err)
	}
}
