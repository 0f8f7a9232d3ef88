package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
)

// table returns the names in a decoded table.
func (c *checker) table(path ...string) map[string]any {
	table, _ := at(c.values, path...).(map[string]any)
	return table
}

// has says whether a path is written, be it with a value or half a one.
func (c *checker) has(path ...string) bool { return c.Has(-1, path...) }

// reportMissing says what a table lacks, where the table begins.
func (c *checker) reportMissing(message string, table ...string) *Problem {
	dotted := strings.Join(table, ".")
	return c.report(c.first[pathID(table)].span, Error, dotted, dotted+" "+message)
}

// checkBackends wants a command for each backend that isn't a known one.
func (c *checker) checkBackends() {
	for name := range c.table("backends") {
		settings := c.table("backends", name)
		if settings == nil || c.has("backends", name, "command") || slices.Contains(c.builtin, name) {
			continue
		}
		message := "has no command; name the program that runs it"
		fix := nearestFix(name, c.builtin, "")
		if fix != nil {
			message += fmt.Sprintf(", or did you mean %s?", fix.Text)
		}
		c.reportMissing(message, "backends", name).Fix = fix
	}
}

// checkHats wants a backend for each hat.
func (c *checker) checkHats() {
	for name := range c.table("hats") {
		hat := c.table("hats", name)
		if hat == nil {
			continue // of another type, which is said already
		}
		_, isTable := hat["backend"].(map[string]any)
		switch {
		case c.has("hats", name, "instructions") && c.has("hats", name, "instructions_file"):
			c.reportMissing("has instructions and a file of them; leave one out", "hats", name)
		case len(hat) > 0 && !c.has("hats", name, "backend"): // it wears the loop's own
		case !c.has("hats", name, "backend"):
			c.reportMissing(`names no backend; write backend = "pi"`, "hats", name)
		case isTable && c.has("hats", name, "backend", "type") && c.has("hats", name, "backend", "command"):
			c.reportMissing("names a backend and a program; leave out type or command", "hats", name, "backend")
		case isTable && !c.has("hats", name, "backend", "type") && !c.has("hats", name, "backend", "command"):
			c.reportMissing(`names no backend; write type = "pi", or command = "my-agent"`, "hats", name, "backend")
		}
	}
}

// checkReviewer wants the hat that reviews to be there, and to have nothing else to do.
func (c *checker) checkReviewer() {
	name, _ := at(c.values, "verify", "reviewer").(string)
	if name == "" {
		return
	}
	known := slices.AppendSeq(slices.Clone(c.hats), maps.Keys(c.table("hats")))
	slices.Sort(known)
	var why string
	var fix *Fix
	switch {
	case c.allHats && !slices.Contains(known, name):
		why, fix = unknown(name, "a hat", known), nearestFix(name, known, `"`)
		if len(known) == 0 {
			why += "describe it below [hats." + bareOr(name, "NAME") + "]"
		}
	case c.has("hats", name, "triggers"):
		why = fmt.Sprintf("is %q, a hat that wakes by its triggers; a reviewer is asked when all else has passed: name one without", name)
	default:
		return
	}
	for _, e := range c.entries {
		if slices.Equal(e.path, []string{"verify", "reviewer"}) {
			c.report(e.value, Error, "verify.reviewer", "verify.reviewer "+why).Fix = fix
		}
	}
}

// checkHatSet warns about hats that hand over and don't fit together.
func (c *checker) checkHatSet() {
	for _, p := range c.hatSet().Check() {
		path := []string{"hats"}
		if p.Hat != "" {
			path = []string{"hats", p.Hat, p.Key}
		}
		at := c.first[pathID(path)].span
		c.report(at, Warning, strings.Join(path, "."), p.String())
	}
}

// hatSet is the file's hats; nil when one of them is wrong.
func (c *checker) hatSet() hats.Set {
	if slices.ContainsFunc(c.problems, func(p Problem) bool { return strings.HasPrefix(p.Key, "hats") && p.Severity == Error }) {
		return nil // what they say isn't known
	}
	s := Settings{Hats: map[string]Hat{}, hatOrder: c.hatNames()}
	for _, l := range leaves(c.table("hats"), "hats") {
		if l.key.put != nil {
			l.key.put(&s, l.path[1], l.value)
		}
	}
	return s.HatSet()
}

// DrawHats draws which hat of a file wakes which, a line for each topic; "" where none
// hand over or one of them is wrong. builtin is as of Check.
func DrawHats(data []byte, builtin []string) string {
	c := &checker{Document: Parse(data), keys: keys(), builtin: builtin, bad: map[string]bool{}}
	if !c.checkEntries() {
		return ""
	}
	if ring := c.hatSet(); ring.Emits() {
		return ring.Text()
	}
	return ""
}

// checkEnd warns about a loop that only the user would end.
func (c *checker) checkEnd() {
	iterations, promise, cost := at(c.values, "limits", "max_iterations"), at(c.values, "completion", "promise"),
		at(c.values, "limits", "max_cost_usd")
	hasCost := cost != nil && cost != int64(0) && cost != 0.0
	hasPromise := promise != nil && promise != ""
	if iterations != int64(0) || hasPromise || hasCost {
		return
	}
	for _, e := range c.entries {
		if slices.Equal(e.path, []string{"limits", "max_iterations"}) {
			p := c.report(e.value, Warning, "limits.max_iterations", limits.Unbounded)
			n := fmt.Sprint(limits.Default().MaxIterations)
			p.Fix = &Fix{Title: "set max_iterations to " + n, Text: n}
		}
	}
}

// backendProblem completes "KEY ..." for a value that names no backend.
func (c *checker) backendProblem(key Key, v any) string {
	name, ok := v.(string)
	if !ok {
		return key.problem(v)
	}
	known := c.backendNames()
	if slices.Contains(known, name) {
		return ""
	}
	message := unknown(name, "a backend", known)
	if format.Nearest(name, known) != "" {
		return message
	}
	return message + "; describe another one below [backends." + bareOr(name, "NAME") + "]"
}

// unknown completes "KEY ..." for a name that isn't one of those of a kind.
func unknown(name, kind string, known []string) string {
	message := fmt.Sprintf("is %q, which isn't %s; ", name, kind)
	if near := format.Nearest(name, known); near != "" {
		return message + "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return message
	}
	return message + "known are " + strings.Join(known, ", ")
}

// backendNames are what a backend may be called in this file.
func (c *checker) backendNames() []string {
	names := append([]string{Auto}, c.builtin...)
	var own []string
	for name := range c.table("backends") {
		if !slices.Contains(names, name) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return append(names, own...)
}

// bareOr returns a name if it needs no quotes as a key.
func bareOr(name, otherwise string) string {
	other := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if name == "" || strings.ContainsFunc(name, other) {
		return otherwise
	}
	return name
}
