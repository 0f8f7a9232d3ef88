package config

import (
	"sort"
	"strings"
)

// Document is a file's text with the places of its keys. It may be any text: unreadable parts are skipped.
type Document struct {
	text    string
	size    int   // of the file, in bytes
	lines   []int // where each begins
	entries []entry
	deep    int             // see scan
	first   map[string]part // where each path is written first
}

const bom = "\uFEFF"

// Parse finds the keys of a file. Beyond MaxSize there are none.
func Parse(data []byte) *Document {
	text := string(data[:min(len(data), MaxSize)])
	if strings.HasPrefix(text, bom) {
		text = strings.Repeat(" ", len(bom)) + text[len(bom):]
	}
	d := &Document{text: text, size: len(data), lines: []int{0}, first: map[string]part{}}
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	d.entries, d.deep = scan(text)
	for _, e := range d.entries {
		for i, p := range e.parts {
			id := pathID(e.path[:len(e.path)-len(e.parts)+i+1])
			if _, ok := d.first[id]; !ok {
				d.first[id] = p
			}
		}
	}
	return d
}

func pathID(path []string) string { return strings.Join(path, "\x00") }

// position returns the line and the column of an offset, both 1-based.
func (d *Document) position(offset int) (line, column int) {
	line = sort.SearchInts(d.lines, offset+1)
	return line, offset - d.lines[line-1] + 1
}

// Reference is where a backend or an agent is named.
type Reference struct {
	Name       string
	Start, End int // offsets of the name with its quotes
}

// References returns where keys that are meant name something, without Auto.
func (d *Document) References(isMeant func(Key) bool) []Reference {
	var refs []Reference
	for _, e := range d.entries {
		key, ok := Lookup(e.path...)
		if !ok || !isMeant(key) {
			continue
		}
		value := d.text[e.value.start:e.value.end]
		if name := unquote(value); len(value) > 2 && (value[0] == '"' || value[0] == '\'') && name != Auto {
			refs = append(refs, Reference{name, e.value.start, e.value.end})
		}
	}
	return refs
}

// Has says whether a key or table is written somewhere other than at an offset.
func (d *Document) Has(except int, path ...string) bool {
	p, ok := d.first[pathID(path)]
	return ok && p.start != except
}

// Where is what a node of a file is for.
type Where int

// What nodes are for.
const (
	Nowhere Where = iota // a comment, or behind a value
	InKey                // a key, or where one could begin
	InHeader
	InValue
)

// Node is what is at an offset of a file.
type Node struct {
	Where Where
	// Path is of the key or table; in a name, up to the part at the offset. Its
	// last part is "" where nothing is written yet.
	Path       []string
	Start, End int    // of that part, or of the value
	Value      string // the key's, as it is written; "" for a table
	Closed     bool   // "=" follows the key, "]" the header
}

// At returns what is at an offset, also in lines that aren't complete.
func (d *Document) At(offset int) Node {
	table := []string{}
	var in *entry
	for i := range d.entries {
		e := &d.entries[i]
		if e.start > offset {
			break
		}
		if e.header {
			table = e.path
		}
		if e.contains(offset) && !(e.nested && e.end == offset && e.end == e.start) {
			in = e
		}
	}
	if in == nil {
		line, column := d.position(offset)
		before := d.text[d.lines[line-1]:][:column-1]
		if strings.TrimSpace(before) != "" {
			return Node{Start: offset, End: offset}
		}
		return newKey(table, offset)
	}
	value := d.text[in.value.start:in.value.end]
	if in.equals >= 0 && offset > in.equals {
		switch {
		case in.header:
			return Node{Start: offset, End: offset}
		case offset < in.value.end && innermost(d.text[in.value.start:max(in.value.start, offset)]) == '{':
			return newKey(in.path, offset)
		}
		start, end := min(in.value.start, offset), in.value.end
		if value == "" {
			start, end = offset, offset
		}
		return Node{Where: InValue, Path: in.path, Start: start, End: end, Value: value, Closed: true}
	}
	return d.inName(in, offset, value)
}

// innermost is the last bracket that the beginning of a value opens and doesn't close; 0 for none.
func innermost(text string) byte {
	var open []byte
	for s := (&scanner{text: text}); s.pos < len(text); {
		switch c := text[s.pos]; c {
		case '"', '\'':
			s.take(quoted)
			continue
		case '#':
			s.take(restOf)
			continue
		case '[', '{':
			open = append(open, c)
		case ']', '}':
			open = open[:max(0, len(open)-1)]
		}
		s.pos++
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

func newKey(table []string, offset int) Node {
	path := append(append([]string{}, table...), "")
	return Node{Where: InKey, Path: path, Start: offset, End: offset}
}

// inName is the node of a part of an entry's key.
func (d *Document) inName(e *entry, offset int, value string) Node {
	for i, p := range e.parts {
		if !p.contains(offset) {
			continue
		}
		where := InKey
		if e.header {
			where = InHeader
		}
		path := e.path[:len(e.path)-len(e.parts)+i+1]
		return Node{Where: where, Path: path, Start: p.start, End: p.end, Value: value, Closed: e.equals >= 0}
	}
	return Node{Start: offset, End: offset}
}
