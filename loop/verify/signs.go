package verify

import (
	"slices"
	"strconv"
	"strings"
)

// signs are what an output says of whether any test was run. A test that was run
// says more than a part of the work that has none.
type signs struct {
	ran          bool
	nothing      bool // there was none, which ends some runners well
	nothingFails bool // there was none, and the runner counts that as its failure
}

// see takes down how many tests a line tells of.
func (s *signs) see(tests int, fails bool) {
	s.ran = s.ran || tests > 0
	s.nothing = s.nothing || tests == 0
	s.nothingFails = s.nothingFails || tests == 0 && fails
}

// phrases that say that no test was run, and whether the runner fails then.
var phrases = []struct {
	text  string
	fails bool
}{
	{"[no test files]", false}, {"no tests to run", true}, // go; cargo nextest
	{"No tests found", true}, {"No test files found", true}, // jest and playwright; vitest
	{"no tests ran", true}, {"NO TESTS RAN", true}, // pytest, unittest
	{"No tests executed!", true},                                                              // phpunit
	{"No test is available in ", false}, {"No test matches the given testcase filter", false}, // dotnet
	{"No tests were executed", true}, // maven
}

// look looks for such a sign in a line, which has no white space around it.
func (s *signs) look(line string) {
	for _, p := range phrases {
		if strings.Contains(line, p.text) {
			s.see(0, p.fails && !strings.HasPrefix(line, "ok") && !strings.HasPrefix(line, "testing: "))
			return
		}
	}
	word, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	switch word {
	case "ok", "not":
		s.lookAtOK(word, strings.TrimSpace(rest))
	case "---": // go
		if strings.HasPrefix(rest, "PASS: ") || strings.HasPrefix(rest, "FAIL: ") {
			s.see(1, false)
		}
	case "FAIL": // go, jest: of one that can't be built it is told as well
		s.see(1, false)
	case "test": // cargo
		if counts, ok := strings.CutPrefix(rest, "result: "); ok {
			s.see(sum(counts, "passed", "failed", "measured"), false)
		}
	case "Tests", "Tests:": // vitest, jest
		if counted(rest) {
			s.see(sum(rest, "passed", "failed"), false)
		}
	case "Ran", "DONE", "Executed": // unittest and bun, gotestsum, swift
		if n, behind := number(rest); behind != rest && strings.HasPrefix(behind, " test") {
			s.see(n, word == "Ran")
		}
	case "#", "ℹ": // node
		if count, ok := strings.CutPrefix(rest, "pass "); ok {
			s.see(sum(count+" passed", "passed"), false)
		} else if count, ok := strings.CutPrefix(rest, "fail "); ok && count != "0" {
			s.see(1, false)
		}
	case "1..0": // TAP
		s.see(0, false)
	case "OK": // phpunit
		if strings.HasPrefix(rest, "(") && strings.Contains(rest, " test") {
			s.see(1, false)
		}
	case "Passed!", "Failed!": // dotnet
		s.see(1, false)
	default:
		s.lookAtCount(line)
	}
}

// lookAtOK looks at "ok  pkg  0.1s" of go, "ok 1 - name" and "not ok" of TAP, and
// "ok | 5 passed | 0 failed" of deno.
func (s *signs) lookAtOK(word, rest string) {
	switch {
	case word == "not" && !strings.HasPrefix(rest, "ok "):
	case strings.Contains(rest, "# SKIP") || strings.Contains(rest, "# skip"):
	case strings.HasPrefix(rest, "|"):
		s.see(sum(rest, "passed", "failed"), false)
	case rest != "":
		s.see(1, false)
	}
}

// lookAtCount looks at lines that begin with a number: the last one of pytest ("=== 2 passed, 1 skipped in 0.03s
// ==="), and those of mocha, rspec and bun.
func (s *signs) lookAtCount(line string) {
	line = strings.Trim(line, "= ")
	if line == "" || line[0] < '0' || line[0] > '9' {
		return
	}
	before, after, _ := strings.Cut(line, " in ")
	_, fraction := number(after)
	isPytest := strings.HasPrefix(fraction, ".") // seconds
	_, behind := number(line)
	word, _, _ := strings.Cut(strings.TrimPrefix(behind, " "), " ")
	switch word = strings.Trim(word, ",;"); {
	case isPytest && counted(before):
		s.see(sum(before, "passed", "failed", "error", "errors", "xfailed", "xpassed"), true)
	case word == "passing" || word == "failing": // mocha
		s.see(sum(line, "passing", "failing"), false)
	case (word == "examples" || word == "example") && strings.Contains(line, "failure"): // rspec
		s.see(sum(line, "examples", "example"), false)
	}
}

// counts are the words behind numbers in the last lines of runners.
var counts = map[string]bool{
	"passed": true, "failed": true, "error": true, "errors": true, "skipped": true, "deselected": true, "todo": true,
	"xfailed": true, "xpassed": true, "warning": true, "warnings": true, "rerun": true, "total": true, "pending": true,
}

// counted says whether a text is a list of counts such as "1 failed, 2 passed".
func counted(text string) bool {
	words := countWords(text)
	for i := 0; i+1 < len(words); i += 2 {
		if n, rest := number(words[i]); rest != "" || words[i] == "" || n < 0 || !counts[words[i+1]] {
			return false
		}
	}
	return len(words) >= 2
}

// sum adds the numbers that stand before one of the words.
func sum(text string, of ...string) (total int) {
	words := countWords(text)
	for i := 1; i < len(words); i++ {
		if slices.Contains(of, words[i]) {
			n, _ := number(words[i-1])
			total += n
		}
	}
	return total
}

func countWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;|.:()", r) })
}

// number reads the digits at a text's beginning, 0 for none.
func number(text string) (n int, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	n, _ = strconv.Atoi(text[:len(text)-len(rest)])
	return n, rest
}
