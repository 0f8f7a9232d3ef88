package orchestrator

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxSize is the largest file that is read, in bytes. Settings are never near it.
const MaxSize = 256 << 10

// maxSteps bounds how many values are looked at: aliases can make few bytes many values.
const maxSteps = 20_000

// Error says why a file can't be taken over.
type Error struct {
	Line    int    // 1-based; 0 when it is about no line
	Message string // completes "FILE ..."
}

func (e *Error) Error() string { return e.Message }

// parse reads the table that a file is.
func parse(data []byte) (*yaml.Node, error) {
	if len(data) > MaxSize {
		return nil, &Error{0, fmt.Sprintf("has more than %d bytes; that isn't a ralph.yml", MaxSize)}
	}
	if bad := unreadable(data); bad >= 0 {
		return nil, &Error{1 + bytes.Count(data[:bad], []byte("\n")), fmt.Sprintf("has the byte %#02x, which no text has; save the file as UTF-8", data[bad])}
	}
	var doc yaml.Node
	err := yaml.Load(data, &doc)
	var at *yaml.LoadError
	switch {
	case len(bytes.TrimSpace(data)) == 0, errors.As(err, &at) && strings.Contains(at.Message, "no documents"):
		return nil, &Error{1, "is empty; there is nothing to take over"}
	case errors.As(err, &at) && at.Mark.Line > 0:
		return nil, &Error{at.Mark.Line, fmt.Sprintf("isn't YAML: %s (column %d); mend that line, or the one above it", at.Message, at.Mark.Column)}
	case errors.As(err, &at):
		return nil, &Error{1, "isn't one YAML document: " + strings.TrimPrefix(at.Message, "yaml: ") + "; leave one of them"}
	case err != nil:
		return nil, &Error{1, "isn't YAML: " + err.Error()}
	case len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode:
		return nil, &Error{1, "has no keys such as event_loop: and hats:; is it the right file?"}
	}
	return doc.Content[0], nil
}

// unreadable is where the first byte is that YAML can't have; -1 when there is none.
func unreadable(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

// field is a key of a table with its value, which is no alias.
type field struct {
	key   string
	line  int
	value *yaml.Node
}

// follow returns what a value stands for.
func (c *converter) follow(n *yaml.Node) (*yaml.Node, error) {
	if c.steps++; c.steps > maxSteps {
		return nil, &Error{n.Line, "stands for too many values; leave out the aliases (*name) there"}
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n, nil
}

// fields are a table's, in the order of the file; those that are merged (<<) come
// last, unless the table has them. What isn't a table has none.
func (c *converter) fields(table *yaml.Node) ([]field, error) { return c.fieldsAt(table, 0) }

func (c *converter) fieldsAt(table *yaml.Node, depth int) (fields []field, err error) {
	if table.Kind != yaml.MappingNode {
		if !isOff(table) {
			c.notes = append(c.notes, Note{table.Line, "what stands here is left out: it isn't a table of keys"})
		}
		return nil, nil
	}
	if depth > 10 {
		return nil, &Error{table.Line, "merges tables (<<) into each other; write the keys out"}
	}
	lines := map[string]int{}
	add := func(f field) error {
		if before, ok := lines[f.key]; ok && depth == 0 && f.line != before {
			return &Error{f.line, fmt.Sprintf("has the key %q twice in one table, before in line %d; leave one of them", f.key, before)}
		}
		lines[f.key] = f.line
		fields = append(fields, f)
		return nil
	}
	var merged []field
	for i := 0; i+1 < len(table.Content); i += 2 {
		key, err := c.follow(table.Content[i])
		if err != nil {
			return nil, err
		}
		value, err := c.follow(table.Content[i+1])
		if err != nil {
			return nil, err
		}
		if key.Value == "<<" {
			from := []*yaml.Node{value}
			if value.Kind == yaml.SequenceNode {
				from = value.Content
			}
			for _, n := range from {
				if n, err = c.follow(n); err != nil {
					return nil, err
				}
				more, err := c.fieldsAt(n, depth+1)
				if err != nil {
					return nil, err
				}
				merged = append(merged, more...)
			}
			continue
		}
		if err := add(field{key.Value, table.Content[i].Line, value}); err != nil {
			return nil, err
		}
	}
	for _, f := range merged {
		if _, ok := lines[f.key]; !ok {
			lines[f.key] = f.line
			fields = append(fields, f)
		}
	}
	return fields, nil
}
