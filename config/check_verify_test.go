package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
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
		"verify.protect = [\"/etc\"]":    "isn't relative",
		"verify.protect = [\"[a\"]":      "isn't a pattern",
		"verify.protect = \"a\"":         "a list of texts",
		"verify.diagnostics = \"on\"":    "off, no_new_errors",
		"verify.reviewer = \"\"":         "is empty",
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
	must.OK(t, f.RememberLoop("ralph-1", check, ""))
	if got := checkOf(f, "ralph-1"); got.String() != check.String() || got.When != check.When || got.Timeout != check.Timeout {
		t.Errorf("got %+v", got)
	}
	for what, got := range map[string]verify.Check{"another loop": checkOf(f, "ralph-2"), "none": checkOf(f, "")} {
		if got.IsSet() {
			t.Errorf("%s has %+v", what, got)
		}
	}
	if err := f.RememberLoop("ralph-2", verify.Check{}, ""); err != nil || checkOf(f, "ralph-1").IsSet() {
		t.Errorf("it outlives its loop: %v", err)
	}
}

// fullCheck has something else than the default in each field.
func fullCheck(t *testing.T) verify.Check {
	t.Helper()
	var full verify.Check
	for v, i := reflect.ValueOf(&full).Elem(), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		default:
			t.Fatalf("what is in %s?", v.Type().Field(i).Name)
		}
	}
	return full
}

// A field without a key can't be set, and one that isn't remembered is one that an
// agent can change.
func TestEachFieldOfACheckHasAKeyAndIsRemembered(t *testing.T) {
	f := place(t, "", "")
	must.OK(t, f.RememberLoop("ralph-1", fullCheck(t), "mark"))
	if got, mark := f.CheckOf("ralph-1"); !reflect.DeepEqual(got, fullCheck(t)) || mark != "mark" {
		t.Errorf("remembered is %+v, %q", got, mark)
	}
	known := map[string]bool{}
	for _, key := range Children("verify") {
		known[key.Name()] = true
	}
	for typ, i := reflect.TypeOf(verify.Check{}), 0; i < typ.NumField(); i++ {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "shell" {
			continue // a command, too
		}
		if !known[name] {
			t.Errorf("there is no key verify.%s", name)
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("these keys have no field: %v", known)
	}
	for _, g := range verify.Gates() {
		if _, ok := Lookup("verify", string(g)); !ok {
			t.Errorf("the gate %s has no key of its name", g)
		}
	}
}

func TestAFoldersGatesNeedTrust(t *testing.T) {
	f := place(t, "[verify]\nprotect = [\"a\"]\ndiagnostics = \"no_new_errors\"\n", "verify.protect = [\"b\"]")
	if s := load(t, f); !slices.Equal(s.Verify.Protect, []string{"b"}) || s.Verify.Diagnostics != verify.DiagnosticsOff || len(s.Held) != 2 {
		t.Errorf("got %+v, held %+v", s.Verify, s.Held)
	}
	f.Trusted = true
	if s := load(t, f); !slices.Equal(s.Verify.Protect, []string{"a"}) || s.Verify.Diagnostics != verify.DiagnosticsNoNew {
		t.Errorf("got %+v", s.Verify)
	}
	f = place(t, "verify.reviewer = \"critic\"\nhats.critic.backend = \"pi\"", "")
	if _, err := f.Load(); !errors.As(err, new(*UntrustedError)) {
		t.Errorf("a reviewer isn't asked about: %v", err)
	}
}

func TestWhatAFileSaysOfVerifying(t *testing.T) {
	const check = "[verify]\ncommand = \"make\"\n"
	for _, tt := range []struct {
		before, now string
		want        bool
	}{
		{check, check, true},
		{check, "# faster\nbackend = \"pi\"\nverify.command = \"make\"\n", true},
		{check, "[verify]\ncommand = \"true\"\n", false},
		{check, "", false},
		{"", check, false},
		{"", "backend = \"pi\"\n", true},
		{check, check + "[", false},
	} {
		if got := SameCheck([]byte(tt.before), []byte(tt.now)); got != tt.want {
			t.Errorf("%q and %q: %v", tt.before, tt.now, got)
		}
	}
}

func checkOf(f Files, id string) verify.Check {
	check, _ := f.CheckOf(id)
	return check
}

func TestAReviewerIsAHat(t *testing.T) {
	const user = "hats.judge.backend = \"pi\"\n"
	for _, tt := range []struct{ file, want, fix string }{
		{"verify.reviewer = \"critic\"\nhats.critic.backend = \"pi\"\n", "", ""},
		{"verify.reviewer = \"judge\"\n", "", ""},
		{"verify.reviewer = \"judg\"\n", `1:19 verify.reviewer is "judg", which isn't a hat; did you mean judge?`, `"judge"`},
		{"[verify]\nreviewer = \"xyzzy\"\n", `2:12 verify.reviewer is "xyzzy", which isn't a hat; known are judge`, ""},
		{"verify.reviewer = \"critic\"\n[hats.critic]\nbackend = \"pi\"\ntriggers = [\"x\"]\n", "1:19 verify.reviewer is \"critic\", a hat that wakes by its triggers", ""},
	} {
		var got []string
		for _, p := range place(t, "", user).Check([]byte(tt.file)) {
			if p.Key == "verify.reviewer" {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
				if p.Fix != nil && p.Fix.Text != tt.fix || p.Fix == nil && tt.fix != "" {
					t.Errorf("%s: the fix is %v", tt.file, p.Fix)
				}
			}
		}
		if all := strings.Join(got, "|"); !strings.HasPrefix(all, tt.want) || tt.want == "" && all != "" {
			t.Errorf("%s: got %s", tt.file, all)
		}
	}
	// The hat of a user's reviewer may be a folder's.
	if _, err := place(t, "", "verify.reviewer = \"critic\"\n").Load(); err != nil {
		t.Error(err)
	}
}
