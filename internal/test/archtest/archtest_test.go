package archtest

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// tree makes files from pairs of a name and its content.
func tree(pairs ...string) fs.FS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

func TestImportsFindsForbiddenArrows(t *testing.T) {
	rules := Rules{
		Module: "m",
		Arrows: map[string][]string{"low": {}, "high": {"low"}, "internal/...": {"internal/..."}, "internal/alone": {}},
		Fenced: map[string][]string{"example.org/rpc": {"high"}},
	}
	tests := []struct{ name, file, content, want string }{
		{"arrow in the picture", "high/a.go", `package high; import "m/low"`, ""},
		{"arrow against it", "low/a.go", `package low; import "m/high"`, "low/a.go: low may not import m/high"},
		{"in a test as well", "low/a_test.go", `package low_test; import ("m/low"; "m/high")`, "low may not import m/high"},
		{"on another platform as well", "low/a_windows.go", "//go:build windows\n\npackage low; import \"m/high\"", "m/high"},
		{"test with an internal package", "low/a_test.go", `package low; import "m/internal/x"`, ""},
		{"code with an internal package", "low/a.go", `package low; import "m/internal/x"`, "m/internal/x"},
		{"fenced module", "low/a.go", `package low; import "example.org/rpc/v2"`, `only ["high"] may`},
		{"fenced module in its room", "high/a.go", `package high; import "example.org/rpc/v2"`, ""},
		{"unknown package", "new/a.go", `package new`, "new is not in the picture"},
		{"tree", "internal/x/y/a.go", `package y; import "fmt"`, ""},
		{"package of a tree", "internal/x/a.go", `package x; import "m/internal/y"`, ""},
		{"package of a tree with a rule of its own", "internal/alone/a.go", `package alone; import "m/internal/y"`, "m/internal/y"},
		{"testdata is no package", "low/testdata/a.go", `package a; import "m/high"`, "no Go files"},
		{"no files", "low/README.md", "nothing", "no Go files"},
	}
	for _, tt := range tests {
		problems, err := Imports(tree(tt.file, tt.content), rules)
		compare(t, tt.name, problems, err, tt.want)
	}
}

func TestUnusedFindsArrowsThatNobodyNeeds(t *testing.T) {
	type picture = map[string][]string
	tests := []struct {
		name           string
		arrows, fenced picture
		want           string
	}{
		{"all used", picture{"low": {}, "high/...": {"low"}}, picture{"example.org/": {"low"}}, ""},
		{"arrow", picture{"low": {"high/..."}, "high/...": {"low"}}, nil, "low may import high/..., and doesn't"},
		{"arrow to itself", picture{"low": {}, "high/...": {"low", "high/..."}}, nil, "high/... may import high/..., and doesn't"},
		{"package", picture{"low": {}, "high/...": {"low"}, "gone": {"low"}}, nil, "there is no package gone"},
		{"fence", picture{"low": {}, "high/...": {"low"}}, picture{"example.org/": {"low", "high/x"}}, "high/x may import example.org/, and doesn't"},
	}
	for _, tt := range tests {
		files := tree("low/a.go", `package low; import "example.org/rpc"`, "high/x/a_test.go", `package x; import ("m/high/x"; "m/low")`)
		problems, err := Unused(files, Rules{Module: "m", Arrows: tt.arrows, Fenced: tt.fenced})
		compare(t, tt.name, problems, err, tt.want)
	}
	_, err := Unused(tree("low/a.go", `package low; import "`), Rules{})
	compare(t, "no Go at all", nil, err, "reading imports")
}

func TestLongFunctionsFindsThem(t *testing.T) {
	body := func(lines int) string {
		return "package a\n\nfunc (t T) long() {\n" + strings.Repeat("\tx()\n", lines-2) + "}\n"
	}
	tests := []struct{ name, file, content, want string }{
		{"at the limit", "a.go", body(5), ""},
		{"over it", "a.go", body(6), "a.go:3:1: long has 6 lines, more than 5"},
		{"in a test", "a_test.go", body(6), ""},
		{"no Go at all", "a.go", "func {", "reading functions"},
	}
	for _, tt := range tests {
		problems, err := LongFunctions(tree(tt.file, tt.content), 5)
		compare(t, tt.name, problems, err, tt.want)
	}
}

func TestWideLinesFindsThem(t *testing.T) {
	tests := []struct{ name, file, content, want string }{
		{"at the limit", "a.go", "package a\n// 45678901234567890\n", ""},
		{"over it", "a.go", "package a\n// 456789012345678901\n", "a.go:2: 21 columns, more than 20"},
		{"characters count", "a.go", "package a\n// äöüäöüäöüäöüäöüäö\n", ""},
		{"in a test", "a_test.go", "package a\n// 45678901234567890123\n", ""},
		{"a text of several lines", "a.go", "package a\n\nconst b = `1234567890123456789\n123456789012345678901`\n", ""},
		{"a text of one", "a.go", "package a\n\nconst b = `12345678901`\n", "a.go:3: 23 columns, more than 20"},
		{"no Go at all", "a.go", "func {", "reading lines"},
	}
	for _, tt := range tests {
		problems, err := WideLines(tree(tt.file, tt.content), 20)
		compare(t, tt.name, problems, err, tt.want)
	}
}

func TestLongFilesFindsThem(t *testing.T) {
	tests := []struct{ name, file, content, want string }{
		{"at the limit", "a.go", strings.Repeat("//\n", 5), ""},
		{"over it", "a/b.lua", strings.Repeat("--\n", 6), "a/b.lua: 6 lines, more than 5"},
		{"not written by hand", "a.jsonl", strings.Repeat("{}\n", 6), ""},
		{"somebody else's", "node_modules/a.ts", strings.Repeat("//\n", 6), "no files"},
	}
	for _, tt := range tests {
		problems, err := LongFiles(tree(tt.file, tt.content), 5)
		compare(t, tt.name, problems, err, tt.want)
	}
}

func TestWordsFindsThem(t *testing.T) {
	unwanted := map[*regexp.Regexp]string{regexp.MustCompile(`/ho` + `me/\w+`): "mine"}
	tests := []struct{ name, file, content, want string }{
		{"clean", "a.md", "at /home alone", ""},
		{"found", "a.md", "one\nin /home/ann\n", `a.md:2: "/home/ann": mine`},
		{"in testdata as well", "testdata/a.jsonl", "/home/ann", "testdata/a.jsonl:1"},
		{"binary", "a.png", "\x00/home/ann", "no files"},
	}
	for _, tt := range tests {
		problems, err := Words(tree(tt.file, tt.content), unwanted)
		compare(t, tt.name, problems, err, tt.want)
	}
}

// compare wants exactly one problem or error that holds want, or none at all
// for an empty want.
func compare(t *testing.T, name string, problems []string, err error, want string) {
	t.Helper()
	if err != nil {
		problems = append(problems, err.Error())
	}
	switch {
	case want == "" && len(problems) > 0:
		t.Errorf("%s: %q, want no problem", name, problems)
	case want != "" && (len(problems) != 1 || !strings.Contains(problems[0], want)):
		t.Errorf("%s: %q, want one with %q", name, problems, want)
	}
}

func TestTooHeavyFindsWhatIsAboveABarAndExcusesThatNobodyNeeds(t *testing.T) {
	two := "package a\n\ntype T struct{}\n\nfunc (t *T) A() {}\nfunc (T) B()    {}\n"
	tests := []struct {
		name    string
		files   []string
		excused map[string]int
		want    string
	}{
		{"below", []string{"a/a.go", "package a\n"}, nil, ""},
		{"methods", []string{"a/a.go", two}, nil, "a.T has 2 methods, more than 1"},
		{"in several files", []string{"a/a.go", "package a\n\ntype T[K any] struct{}\n\nfunc (t *T[K]) A() {}", "a/b.go", "package a\n\nfunc (t T[K]) B() {}"}, nil, "a.T has 2 methods"},
		{"one for each platform", []string{"a/a_linux.go", "package a\n\nfunc (t T) A() {}", "a/a_windows.go", "package a\n\nfunc (t T) A() {}"}, nil, ""},
		{"lines", []string{"a/a.go", strings.Repeat("\n", 4) + "package a\n", "a/b.go", "package a\n\n\n\n"}, nil, "a has 9 lines, more than 8"},
		{"embedded", []string{"a/a.go", "package a\n\ntype T struct{ *E; sync.Mutex }\n\ntype E struct{ F }\n\nfunc (T) A() {}", "a/b.go", "package a\n\nfunc (F) B() {}"}, nil, "a.T has 2 methods"},
		{"embedded alone", []string{"a/a.go", two + "\ntype E struct{ T }\n"}, map[string]int{"a.T": 2}, "a.E has 2 methods, more than 1"},
		{"fields", []string{"a/a.go", "package a\n\ntype T struct{ a, b, c, d int }\n"}, nil, "a.T has 4 fields, more than 3"},
		{"embedded fields", []string{"a/a.go", "package a\n\ntype T struct{ a, b, c int; io.Reader }\n"}, map[string]int{"a.T fields": 4}, ""},
		{"excused fields not needed", []string{"a/a.go", "package a\n\ntype T struct{ a int }\n"}, map[string]int{"a.T fields": 4}, "a.T has 1 fields, so it needs no excuse any more"},
		{"of tests", []string{"a/a.go", "package a\n", "a/a_test.go", two + strings.Repeat("\n", 9)}, nil, ""},
		{"excused", []string{"a/a.go", two}, map[string]int{"a.T": 2}, ""},
		{"grown", []string{"a/a.go", two + "\nfunc (T) C() {}\n"}, map[string]int{"a.T": 2}, "a.T has 3 methods, more than 2"},
		{"not needed", []string{"a/a.go", "package a\n\nfunc (t T) A() {}\n"}, map[string]int{"a.T": 2}, "a.T has 1 methods, so it needs no excuse any more"},
		{"gone", []string{"a/a.go", "package a\n"}, map[string]int{"b": 9}, "b is excused, and isn't there any more"},
	}
	for _, tt := range tests {
		problems, err := TooHeavy(tree(tt.files...), Bars{Methods: 1, Fields: 3, Lines: 8, Excused: tt.excused})
		must.OK(t, err)
		if got := strings.Join(problems, "\n"); got != tt.want && (tt.want == "" || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
