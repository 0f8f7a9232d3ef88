package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// maxSyntaxErrors bounds how many mistakes in the syntax are looked for.
const maxSyntaxErrors = 10

// checker collects the problems of a document.
type checker struct {
	*Document
	keys     table
	builtin  []string       // names of the known backends
	hats     []string       // of other files
	allHats  bool           // there are no more than these and the file's
	values   map[string]any // what could be decoded
	masked   []bool         // entries that couldn't
	bad      map[string]bool
	problems []Problem
}

// Check returns all that is wrong with a file, in the order of its places.
// builtin are the names of the backends that need no description.
func Check(data []byte, builtin []string) []Problem { return check(data, builtin, nil, false).problems }

// check is Check for a file to which hats of other files may belong; all: there are no
// others.
func check(data []byte, builtin, hats []string, all bool) *checker {
	c := &checker{Document: Parse(data), keys: keys(), builtin: builtin, hats: hats, allHats: all, bad: map[string]bool{}}
	if c.checkEntries() {
		c.checkBackends()
		c.checkHats()
		c.checkReviewer()
		c.checkHatSet()
		c.checkSteps()
		c.checkEnd()
	}
	c.sort()
	return c
}

// checkEntries checks each entry by itself. It says whether the file is one to look at.
func (c *checker) checkEntries() bool {
	switch nul := strings.IndexByte(c.text, 0); {
	case c.size > MaxSize:
		c.report(span{}, Error, "", fmt.Sprintf("the file has %d bytes, more than %d; that isn't a configuration file", c.size, MaxSize))
	case nul >= 0:
		c.report(span{nul, nul + 1}, Error, "", "a NUL byte; save the file as UTF-8 text")
	case c.deep >= 0:
		c.report(span{c.deep, c.deep}, Error, "", fmt.Sprintf("nested deeper than %d", maxDepth))
	default:
		c.masked = make([]bool, len(c.entries))
		c.decode()
		for i := range c.entries {
			if !c.masked[i] {
				c.checkEntry(&c.entries[i])
			}
		}
		return true
	}
	return false
}

// sort puts the problems into the order of their places.
func (c *checker) sort() {
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}

// report adds a problem; its place ends with the line.
func (c *checker) report(at span, severity Severity, key, message string) *Problem {
	at.start = min(at.start, len(c.text))
	at.end = max(at.start, min(at.end, len(c.text)))
	if i := strings.IndexByte(c.text[at.start:at.end], '\n'); i >= 0 {
		at.end = at.start + i
	}
	line, column := c.position(at.start)
	c.problems = append(c.problems, Problem{
		Line: line, Column: column, EndColumn: column + at.end - at.start,
		Severity: severity, Key: key, Message: message,
	})
	return &c.problems[len(c.problems)-1]
}

// decode reads the values. A statement that isn't TOML is reported and left
// out, so that one mistake doesn't hide the others.
func (c *checker) decode() {
	text := []byte(c.text)
	for _, e := range c.entries {
		if e.open && !e.nested {
			c.report(span{e.value.start, e.value.start + 1}, Error, "", fmt.Sprintf("%q is not closed", c.text[e.value.start]))
			c.mask(text, e.start)
		}
	}
	for range maxSyntaxErrors {
		values := map[string]any{}
		_, err := toml.Decode(string(text), &values)
		if err == nil {
			c.values = values
			return
		}
		var syntax toml.ParseError
		if !errors.As(err, &syntax) {
			c.report(span{}, Error, "", err.Error())
			return
		}
		at := max(0, min(syntax.Position.Start, len(text)))
		c.report(span{at, at + syntax.Position.Len}, Error, "", strings.TrimSuffix(syntax.Message, "."))
		if !c.mask(text, at) {
			return
		}
	}
}

// mask blanks out the statement at an offset, and for a header all of its
// table: without it the keys would count as another table's.
func (c *checker) mask(text []byte, offset int) (ok bool) {
	inner := func(i int) bool { return c.entries[i].nested }
	from := sort.Search(len(c.entries), func(i int) bool { return c.entries[i].start > offset }) - 1
	for from > 0 && inner(from) {
		from--
	}
	if from < 0 || c.masked[from] {
		return false
	}
	header := c.entries[from].header
	to := from + 1
	for to < len(c.entries) && (inner(to) || header && !c.entries[to].header) {
		to++
	}
	end := len(text)
	if to < len(c.entries) {
		end = c.entries[to].start
	}
	for i := c.entries[from].start; i < end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	for i := from; i < to; i++ {
		c.masked[i] = true
	}
	return true
}

// checkEntry checks an entry's names, outermost first, and its value. Of a
// path that is bad once, nothing more is said.
func (c *checker) checkEntry(e *entry) {
	above := len(e.path) - len(e.parts)
	for n := 1; n <= len(e.path); n++ {
		path := e.path[:n]
		id := pathID(path)
		if c.bad[id] {
			return
		}
		if n <= above {
			continue // its own header or key was checked
		}
		name := e.parts[n-above-1]
		key, ok := c.keys.lookup(path...)
		isInList := c.keys.inList(path...) // another item may be as bad
		if !ok {
			c.bad[id] = !isInList
			c.reportUnknown(name, path)
			return
		}
		if why := c.entryProblem(e, key, n); why != "" {
			c.bad[id] = !isInList
			at := name.span
			if n == len(e.path) && !e.header {
				at = e.value
			}
			dotted := strings.Join(path, ".")
			p := c.report(at, Error, dotted, dotted+" "+why)
			p.Fix = nearestFix(unquote(c.text[at.start:at.end]), c.valuesOf(key), `"`)
			return
		}
	}
}

// entryProblem completes "KEY ..." for the first n names of an entry.
func (c *checker) entryProblem(e *entry, key Key, n int) string {
	table := key.Type == Table || len(c.keys.children(e.path[:n]...)) > 0
	value := at(c.values, e.path[:n]...)
	switch _, isTable := value.(map[string]any); {
	case value == nil && c.keys.inList(e.path[:n]...):
		return c.itemProblem(e, key)
	case value == nil, isTable && table:
		return ""
	case key.Type == Backend && !isTable:
		return c.backendProblem(key, value)
	}
	return key.problem(value)
}

func (c *checker) reportUnknown(name part, path []string) {
	parent, last := path[:len(path)-1], path[len(path)-1]
	var known []string
	for _, k := range c.keys.children(parent...) {
		known = append(known, k.Name())
	}
	dotted := strings.Join(path, ".")
	message := dotted + " is not a known key"
	fix := nearestFix(last, known, "")
	switch home := c.keys.homes(last); {
	case len(home) > 0:
		message, fix = message+"; it belongs below "+strings.Join(home, " or "), nil
	case fix != nil:
		message += "; did you mean " + fix.Text + "?"
	case len(known) > 0:
		message += "; known are " + strings.Join(known, ", ")
	default:
		message = strings.Join(parent, ".") + " has no keys below it"
	}
	c.report(name.span, Error, dotted, message).Fix = fix
}

// homes returns the headers below which a key of that name is known.
func (t table) homes(name string) []string {
	var headers []string
	for _, k := range t {
		if k.Name() == name && len(k.Path) == 2 && k.Path[1] != Any {
			headers = append(headers, "["+k.Path[0]+"]")
		}
	}
	return headers
}

// valuesOf returns what the value of a key may be; nil for what isn't one of a few.
func (c *checker) valuesOf(key Key) []string {
	if key.Type == Backend {
		return c.backendNames()
	}
	return key.Values
}

// nearestFix changes a misspelt name into the one that is meant, or is nil.
// quote is put around it.
func nearestFix(name string, known []string, quote string) *Fix {
	near := format.Nearest(name, known)
	if near == "" || near == name {
		return nil
	}
	return &Fix{Title: "change it to " + near, Text: quote + near + quote}
}
