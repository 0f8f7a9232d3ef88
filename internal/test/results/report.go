package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, FailedBuild, Test, Output string
	Elapsed                                                float64
}

// failure is a test that failed or didn't end, or a package that couldn't be built, or failed without a test.
type failure struct {
	pkg, test string
	said      string // also what the tests said that it is a part of
}

func (f failure) String() string {
	room := strings.TrimPrefix(f.pkg, module+"/")
	if f.test == "" {
		return room
	}
	return f.test + " in " + room
}

// pattern is what go test -run takes for this test alone.
func (f failure) pattern() string {
	parts := strings.Split(f.test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// report reads go test -json. It shows what go test says without -json, at once, and keeps what failed.
type report struct {
	out, times io.Writer
	said       map[string]*strings.Builder // by package and test
	order      map[string][]string         // the tests of a package that said something; "" is the package
	running    map[string][]string         // the tests of a package that haven't ended
	failed     map[string][]string
	failures   []failure
	skipped    map[string]int            // tests, by why
	ends       map[string]map[string]int // by test and action, how often
}

func newReport(out, times io.Writer) *report {
	return &report{out: out, times: times, said: map[string]*strings.Builder{}, order: map[string][]string{}, running: map[string][]string{},
		failed: map[string][]string{}, skipped: map[string]int{}, ends: map[string]map[string]int{}}
}

// read reads to the end of the events. What is none are go's own words.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		switch {
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(r.out, line)
		case e.Action == "build-output":
			fmt.Fprint(r.out, e.Output)
			r.keep(e.ImportPath, "", e.Output)
		case e.Action == "output":
			r.keep(e.Package, e.Test, e.Output)
		case e.Test != "":
			r.ofTest(e)
		case e.Action == "pass" || e.Action == "fail":
			r.ofPackage(e)
		}
	}
}

func key(pkg, test string) string { return pkg + " " + test }

func (r *report) keep(pkg, test, output string) {
	if r.said[key(pkg, test)] == nil {
		r.said[key(pkg, test)] = new(strings.Builder)
		r.order[pkg] = append(r.order[pkg], test)
	}
	r.said[key(pkg, test)].WriteString(output)
}

// text is what a test, or a package, has said.
func (r *report) text(pkg, test string) string {
	if said := r.said[key(pkg, test)]; said != nil {
		return said.String()
	}
	return ""
}

func (r *report) ofTest(e event) {
	if e.Action == "run" {
		r.running[e.Package] = append(r.running[e.Package], e.Test)
		return
	}
	if e.Action != "pass" && e.Action != "skip" && e.Action != "fail" {
		return
	}
	r.running[e.Package] = slices.DeleteFunc(r.running[e.Package], func(test string) bool { return test == e.Test })
	if r.ends[e.Test] == nil {
		r.ends[e.Test] = map[string]int{}
	}
	r.ends[e.Test][e.Action]++
	if e.Action == "fail" {
		r.failed[e.Package] = append(r.failed[e.Package], e.Test)
		return
	}
	if e.Action == "skip" {
		r.skipped[whySkipped(r.text(e.Package, e.Test))]++
	}
	delete(r.said, key(e.Package, e.Test))
	if !strings.Contains(e.Test, "/") {
		fmt.Fprintf(r.times, "%.1f %s %s\n", e.Elapsed, path.Base(e.Package), e.Test)
	}
}

// ofPackage shows what is to be shown of a package that is over: all that its failed tests said, or go test's line.
func (r *report) ofPackage(e event) {
	if e.Action == "pass" {
		text := strings.TrimPrefix(r.text(e.Package, ""), "PASS\n")
		fmt.Fprint(r.out, text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:])
	} else {
		for _, test := range r.order[e.Package] {
			fmt.Fprint(r.out, r.text(e.Package, test))
		}
		r.failures = append(r.failures, r.fell(e)...)
	}
	for _, test := range r.order[e.Package] {
		delete(r.said, key(e.Package, test))
	}
	delete(r.order, e.Package)
}

// fell is what failed in a package: tests without a part that failed, or else the package. A test that hasn't ended
// failed if time was up; where another one panicked it might have passed.
func (r *report) fell(e event) (all []failure) {
	if e.FailedBuild != "" {
		if slices.ContainsFunc(r.failures, func(f failure) bool { return f.pkg == e.FailedBuild }) {
			return nil
		}
		return []failure{{pkg: e.FailedBuild, said: r.text(e.FailedBuild, "")}}
	}
	tests := slices.Clone(r.failed[e.Package])
	if slices.ContainsFunc(r.order[e.Package], func(test string) bool {
		return strings.Contains(r.text(e.Package, test), "panic: test timed out")
	}) {
		tests = append(tests, r.running[e.Package]...)
	}
	slices.Sort(tests)
	for _, test := range slices.Compact(tests) {
		if slices.ContainsFunc(tests, func(other string) bool { return strings.HasPrefix(other, test+"/") }) {
			continue
		}
		f := failure{e.Package, test, r.text(e.Package, test)}
		for whole := test; strings.Contains(whole, "/"); {
			whole = whole[:strings.LastIndex(whole, "/")]
			f.said += r.text(e.Package, whole)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		all = []failure{{pkg: e.Package, said: r.text(e.Package, "")}}
	}
	return all
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// whySkipped is the last line that a skipped test said but for go test's own.
func whySkipped(said string) string {
	lines := own(said)
	if len(lines) == 0 {
		return "for no reason that it told"
	}
	return place.ReplaceAllString(lines[len(lines)-1], "")
}

// skips are lines that say how many tests were skipped, and why.
func (r *report) skips() (lines []string) {
	for _, why := range slices.SortedFunc(maps.Keys(r.skipped), func(a, b string) int {
		return cmp.Or(r.skipped[b]-r.skipped[a], cmp.Compare(a, b))
	}) {
		lines = append(lines, fmt.Sprintf("*** skipped: %d, %s", r.skipped[why], why))
	}
	return lines
}
