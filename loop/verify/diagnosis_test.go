package verify

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// e is an error, as "main.go:3 undefined: x".
func e(text string) Diagnostic {
	place, message, _ := strings.Cut(text, " ")
	d := Diagnostic{Source: "compiler", Code: "U", Column: 1, Message: message}
	path, line, _ := strings.Cut(place, ":")
	fmt.Sscan(line, &d.Line)
	d.Path, d.EndLine = path, d.Line
	return d
}

func TestOnlyNewErrorsRefute(t *testing.T) {
	edited := []Edit{{Path: "main.go", Lines: [][2]int{{10, 12}}}}
	seen := []string{"main.go"}
	settled := func(errors ...Diagnostic) Diagnosis { return Diagnosis{Errors: errors, Seen: seen, Settled: true} }
	spanning := e("main.go:8 unclosed")
	spanning.EndLine = 11
	otherSource, otherCode := e("main.go:3 undefined: x"), e("main.go:3 undefined: x")
	otherSource.Source, otherCode.Code = "vet", "V"
	for name, tt := range map[string]struct {
		before, now Diagnosis
		edits       []Edit
		state       State
		why         string
	}{
		"none":                     {Diagnosis{Seen: seen}, settled(), edited, Verified, "show no new error in 1 file"},
		"a new one":                {Diagnosis{Seen: seen}, settled(e("main.go:3 undefined: x")), edited, Refuted, "show 1 new error: main.go:3:1: undefined: x"},
		"two":                      {Diagnosis{Seen: seen}, settled(e("main.go:3 a"), e("main.go:4 b")), edited, Refuted, "show 2 new errors: main.go:3:1: a"},
		"an old one":               {settled(e("main.go:3 undefined: x")), settled(e("main.go:3 undefined: x")), edited, Verified, ""},
		"an old one that moved":    {settled(e("main.go:3 undefined: x")), settled(e("main.go:30 undefined: x")), edited, Verified, ""},
		"more of the old one":      {settled(e("main.go:3 undefined: x")), settled(e("main.go:3 undefined: x"), e("main.go:11 undefined: x")), edited, Verified, ""},
		"of another source":        {settled(e("main.go:3 undefined: x")), settled(otherSource), edited, Refuted, ""},
		"with another code":        {settled(e("main.go:3 undefined: x")), settled(otherCode), edited, Refuted, ""},
		"in an old, unknown file":  {Diagnosis{}, settled(e("main.go:3 undefined: x")), edited, Unchecked, "show an error that may be new, as nobody had looked at the file before: main.go:3:1: undefined: x"},
		"in a line of the loop's":  {Diagnosis{}, settled(e("main.go:11 undefined: x")), edited, Refuted, ""},
		"around a line of it":      {Diagnosis{}, settled(spanning), edited, Refuted, ""},
		"in a new file":            {Diagnosis{}, settled(e("main.go:3 undefined: x")), []Edit{{Path: "main.go", IsNew: true}}, Refuted, ""},
		"in a renamed file":        {Diagnosis{Seen: []string{"old.go"}, Errors: []Diagnostic{e("old.go:1 a")}}, settled(e("main.go:1 a")), []Edit{{Path: "main.go", Formerly: "old.go"}}, Verified, ""},
		"new in a renamed file":    {Diagnosis{Seen: []string{"old.go"}}, settled(e("main.go:1 a")), []Edit{{Path: "main.go", Formerly: "old.go"}}, Refuted, ""},
		"elsewhere, known":         {Diagnosis{Seen: []string{"b.go"}}, settled(e("b.go:1 broken")), edited, Refuted, ""},
		"elsewhere, unknown":       {Diagnosis{}, settled(e("b.go:1 broken")), edited, Unchecked, "b.go:1:1: broken"},
		"known, but not all of it": {Diagnosis{Seen: seen, Cut: true}, settled(e("main.go:3 a")), edited, Unchecked, "may be new"},
		"nobody looked":            {Diagnosis{Seen: seen}, Diagnosis{Settled: true}, edited, Unchecked, "can't be told: no language server looked at main.go"},
		"nobody looked at some": {Diagnosis{}, settled(), append(edited[:1:1], Edit{Path: "README.md"}, Edit{Path: "b"}, Edit{Path: "c"}, Edit{Path: "d"}), Verified,
			"show no new error in 1 file; no language server looked at README.md, b, c and 1 more"},
		"not done":              {Diagnosis{Seen: seen}, Diagnosis{Busy: seen, Errors: []Diagnostic{e("main.go:3 a")}}, edited, Unchecked, "can't be told: the language server isn't done with main.go"},
		"not settled":           {Diagnosis{Seen: seen}, Diagnosis{Seen: seen}, edited, Unchecked, "can't be told: the language servers aren't done"},
		"not saved":             {Diagnosis{Seen: seen}, Diagnosis{Unsaved: seen, Settled: true}, edited, Unchecked, "can't be told: main.go has changes in the editor that aren't saved"},
		"too many":              {Diagnosis{Seen: seen}, Diagnosis{Seen: seen, Settled: true, Cut: true}, edited, Unchecked, "more than 2000 errors"},
		"new, another not done": {Diagnosis{Seen: seen}, Diagnosis{Seen: seen, Busy: []string{"b.go"}, Errors: []Diagnostic{e("main.go:3 a")}}, append(edited[:1:1], Edit{Path: "b.go"}), Refuted, "main.go:3:1: a"},
	} {
		got := JudgeDiagnostics(tt.before, tt.now, tt.edits)
		if got.State != tt.state || !strings.Contains(got.Why, tt.why) || got.Code != -1 {
			t.Errorf("%s: %s, %q", name, got.State, got.Why)
		}
		if (got.State == Refuted) != (len(got.Problems) > 0) && got.Output == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestManyErrorsAreBounded(t *testing.T) {
	var now Diagnosis
	for range MaxErrors {
		now.Errors = append(now.Errors, e("main.go:3 \x1b[31m"+strings.Repeat("ü", 1000)))
	}
	got := JudgeDiagnostics(Diagnosis{}, now, []Edit{{Path: "main.go", IsNew: true}})
	if got.State != Refuted || len(got.Problems) != maxProblems || len(got.Output) > MaxExcerpt || !utf8.ValidString(got.Output) || strings.Contains(got.Why+got.Output, "\x1b") {
		t.Errorf("%s, %d problems, %d bytes: %q", got.State, len(got.Problems), len(got.Output), got.Why)
	}
}
