package verify

import (
	"strings"
	"testing"
)

// one is a check of which each gate has something to do.
func one() Check {
	return Check{Command: []string{"go", "test"}, Diagnostics: DiagnosticsNoNew, Protect: []string{"**/*_test.go"}, Reviewer: "critic"}
}

// Each gate can be wanted alone, and has words of its own.
func TestEachGateMakesACheck(t *testing.T) {
	all := one()
	seen := map[string]Gate{}
	for _, g := range Gates() {
		only := all
		for _, other := range Gates() {
			if other == g {
				continue
			}
			switch other {
			case CommandGate:
				only.Command = nil
			case DiagnosticsGate:
				only.Diagnostics = DiagnosticsOff
			case ProtectGate:
				only.Protect = nil
			case ReviewerGate:
				only.Reviewer = ""
			default:
				t.Fatalf("the test doesn't know the gate %s", other)
			}
		}
		if !all.Has(g) || !only.Has(g) || !only.IsSet() {
			t.Errorf("%s is forgotten: %+v", g, only)
		}
		for _, words := range []string{all.Subject(g), all.Wants(g)} {
			if other, ok := seen[words]; ok || strings.TrimSpace(words) == "" {
				t.Errorf("%s is told as %q, like %s", g, words, other)
			}
			seen[words] = g
		}
	}
	if (Check{Diagnostics: DiagnosticsOff, When: OnEach, MaxFailures: 3}).IsSet() {
		t.Error("nothing is wanted, and that is set")
	}
	if got := all.Besides(); strings.Contains(got, "go test") || !strings.Contains(got, "critic") || !strings.Contains(got, "_test.go") {
		t.Errorf("got %q", got)
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"**/*_test.go", "a_test.go", true},
		{"**/*_test.go", "a/b/c_test.go", true},
		{"**/*_test.go", "a/b/c.go", false},
		{"*_test.go", "a/b_test.go", false},
		{"tests", "tests/a/b.py", true},
		{"tests/", "tests/a.py", true},
		{"./tests", "tests/a.py", true},
		{"tests/*", "tests/a/b.py", true},
		{"tests", "mytests/a.py", false},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"a/**/z", "b/z", false},
		{"**", "anything", true},
		{"**/**/**/**/**/x", strings.Repeat("a/", 500) + "y", false},
		{"[ab].go", "b.go", true},
		{"Makefile", "Makefile", true},
	} {
		if got := Matches(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%s matches %s: %v", tt.pattern, tt.name, got)
		}
	}
	for _, pattern := range []string{"", " ", "/etc/passwd", `a\b`, "../x", "[a"} {
		if CheckPattern(pattern) == "" {
			t.Errorf("%q is taken", pattern)
		}
	}
	if why := CheckPattern("**/*_test.go"); why != "" {
		t.Errorf("%s", why)
	}
}

func TestTheFilesOfACommand(t *testing.T) {
	for _, tt := range []struct {
		check        Check
		path         string
		names, reads bool
	}{
		{Check{Command: []string{"./check.sh", "all"}}, "check.sh", true, false},
		{Check{Command: []string{"/w/app/check.sh"}}, "check.sh", true, false},
		{Check{Command: []string{"/w/other/check.sh"}}, "check.sh", false, false},
		{Check{Command: []string{"node", "test/run.js"}}, "test/run.js", true, false},
		{Check{Command: []string{"go", "test", "./..."}}, "a_test.go", false, false},
		{Check{Shell: "cd x && sh 'test/run.sh'>/dev/null"}, "test/run.sh", true, false},
		{Check{Shell: "A=$(cat list.txt);make check"}, "list.txt", true, false},
		{Check{Shell: "A=$(cat list.txt);make check"}, "Makefile", false, true},
		{Check{Command: []string{"npm", "test"}}, "package.json", false, true},
		{Check{Command: []string{"go", "test"}}, "package.json", false, false},
		{Check{}, ".", false, false},
	} {
		if names, reads := tt.check.Names("/w/app", tt.path), tt.check.Reads(tt.path); names != tt.names || reads != tt.reads {
			t.Errorf("%s, %s: named %v, read %v", tt.check, tt.path, names, reads)
		}
	}
}
