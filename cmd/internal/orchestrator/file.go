package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// MaxSize is the largest file that is read, in bytes. Settings are never near it.
const MaxSize = 256 << 10

// Error says why a file can't be taken over.
type Error struct {
	Line    int    // 1-based; 0 when it is about no line
	Message string // completes "FILE ..."
}

func (e *Error) Error() string { return e.Message }

// field is a key with its value, with aliases and merged tables (<<) resolved, or an item of a
// list. One without a line isn't in the file.
type field struct {
	name, path string // "timeout", "hats.planner.timeout"
	line       int    // the key's, or the item's
	kind       yaml.Kind
	text       string   // of a scalar
	list       []*field // the items, or the keys of a table: what is merged comes last
	isUsed     bool     // somebody has asked for it
	isTold     bool     // there is a note about it
	why        string   // it is left out
}

// key is a key of a table.
func (f *field) key(name string) *field {
	i := slices.IndexFunc(f.list, func(below *field) bool { return below.name == name })
	if f.kind != yaml.MappingNode || i < 0 {
		return &field{}
	}
	f.list[i].isUsed = true
	return f.list[i]
}

// at is a key by its path.
func (f *field) at(path string) *field {
	for name := range strings.SplitSeq(path, ".") {
		f = f.key(name)
	}
	return f
}

// tables are the keys of a table that the file chooses.
func (f *field) tables() (all []*field) {
	for _, below := range f.list {
		if below.isUsed = below.kind == yaml.MappingNode; below.isUsed {
			all = append(all, below)
		}
	}
	return all
}

// says is whether a value asks for anything.
func (f *field) says() bool {
	isDisabled := slices.ContainsFunc(f.list, func(below *field) bool { return below.name == "enabled" && below.text == "false" })
	return !isDisabled && f.text != "false" && (f.text != "" || len(f.list) > 0)
}

// texts is a list of texts; a text alone is a list of one.
func (f *field) texts() (all []string) {
	if f.kind == yaml.ScalarNode && f.text != "" {
		return []string{f.text}
	}
	for _, item := range f.list {
		if f.kind == yaml.SequenceNode && item.kind == yaml.ScalarNode {
			all = append(all, item.text)
		}
	}
	return all
}

// parse reads the table that a file is.
func parse(data []byte) (*field, error) {
	if len(data) > MaxSize {
		return nil, &Error{0, fmt.Sprintf("has more than %d bytes; that isn't a ralph.yml", MaxSize)}
	}
	var values any // its keys are there once, and its aliases end: else the nodes could be without end
	var doc yaml.Node
	err := cmp.Or(yaml.Load(data, &values), yaml.Load(data, &doc))
	at := &yaml.LoadError{}
	switch errors.As(err, &at); {
	case strings.TrimSpace(string(data)) == "", strings.Contains(at.Message, "no documents"):
		return nil, &Error{1, "is empty; there is nothing to take over"}
	case at.Mark.Line > 0:
		return nil, &Error{at.Mark.Line, fmt.Sprintf("isn't YAML: %s (column %d); mend that line, or the one above it", at.Message, at.Mark.Column)}
	case err != nil:
		return nil, &Error{0, "isn't YAML: " + cmp.Or(at.Message, err.Error())}
	case doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) == 0:
		return nil, &Error{1, "has no keys such as event_loop: and hats:; is it the right file?"}
	}
	return read(doc.Content[0], field{line: 1}), nil
}

// read fills a field with the value of a node.
func read(n *yaml.Node, f field) *field {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if f.kind = n.Kind; n.ShortTag() != "!!null" {
		f.text = n.Value
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			f.list = append(f.list, read(item, field{path: f.path, line: item.Line}))
		}
		return &f
	}
	var merged []*field
	for pair := range slices.Chunk(n.Content, 2) {
		name := read(pair[0], field{}).text
		path := f.path // a merged table's keys are its own
		if name != "<<" {
			path = strings.TrimPrefix(f.path+"."+name, ".")
		}
		below := read(pair[1], field{name: name, path: path, line: pair[0].Line})
		if name != "<<" {
			f.list = append(f.list, below)
			continue
		}
		tables := below.list
		if below.kind == yaml.MappingNode {
			tables = []*field{below}
		}
		for _, table := range tables {
			merged = append(merged, table.list...)
		}
	}
	for _, more := range merged {
		if !slices.ContainsFunc(f.list, func(own *field) bool { return own.name == more.name }) {
			f.list = append(f.list, more)
		}
	}
	return &f
}
