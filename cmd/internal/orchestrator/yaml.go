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

// What bounds the values that are looked at: aliases can make few bytes many values.
const (
	maxSteps = 20_000
	maxDepth = 100
)

// Error says why a file can't be taken over.
type Error struct {
	Line    int    // 1-based; 0 when it is about no line
	Message string // completes "FILE ..."
}

func (e *Error) Error() string { return e.Message }

// value is what stands in the file, with aliases and merged tables (<<) resolved.
type value struct {
	kind   yaml.Kind
	text   string // of a scalar
	isNull bool
	isIn   bool // a text begins on the line after this one
	line   int
	list   []value
	fields []field // of a table, in the order of the file; what is merged comes last
}

// field is a key of a table with its value.
type field struct {
	key, path string // "timeout", "hats.planner.timeout"
	at        int    // its line
	value
}

// parse reads the table that a file is.
func parse(data []byte) (value, error) {
	if len(data) > MaxSize {
		return value{}, &Error{0, fmt.Sprintf("has more than %d bytes; that isn't a ralph.yml", MaxSize)}
	}
	if bad := unreadable(data); bad >= 0 {
		return value{}, &Error{1 + bytes.Count(data[:bad], []byte("\n")), fmt.Sprintf("has the byte %#02x, which no text has; save the file as UTF-8", data[bad])}
	}
	var doc yaml.Node
	err := yaml.Load(data, &doc)
	var at *yaml.LoadError
	switch {
	case len(bytes.TrimSpace(data)) == 0, errors.As(err, &at) && strings.Contains(at.Message, "no documents"):
		return value{}, &Error{1, "is empty; there is nothing to take over"}
	case errors.As(err, &at) && at.Mark.Line > 0:
		return value{}, &Error{at.Mark.Line, fmt.Sprintf("isn't YAML: %s (column %d); mend that line, or the one above it", at.Message, at.Mark.Column)}
	case errors.As(err, &at):
		return value{}, &Error{1, "isn't one YAML document: " + strings.TrimPrefix(at.Message, "yaml: ") + "; leave one of them"}
	case err != nil:
		return value{}, &Error{1, "isn't YAML: " + err.Error()}
	case len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode:
		return value{}, &Error{1, "has no keys such as event_loop: and hats:; is it the right file?"}
	case len(doc.Content[0].Content) == 0:
		return value{}, &Error{doc.Content[0].Line, "is empty; there is nothing to take over"}
	}
	return new(resolver).value(doc.Content[0], "", 0)
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

// resolver counts the values of a file.
type resolver struct{ steps int }

func (r *resolver) value(n *yaml.Node, path string, depth int) (v value, err error) {
	if r.steps++; r.steps > maxSteps || depth > maxDepth {
		return v, &Error{n.Line, "stands for too many values; leave out the aliases (*name) there"}
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v = value{kind: n.Kind, line: n.Line, text: n.Value, isNull: n.ShortTag() == "!!null", isIn: n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			one, err := r.value(item, path, depth+1)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, one)
		}
	}
	if n.Kind == yaml.MappingNode {
		v.fields, err = r.fields(n, path, depth+1)
	}
	return v, err
}

func (r *resolver) fields(table *yaml.Node, path string, depth int) (fields []field, err error) {
	lines := map[string]int{}
	var merged []field
	for i := 0; i+1 < len(table.Content); i += 2 {
		key, err := r.value(table.Content[i], "", depth)
		if err != nil {
			return nil, err
		}
		f := field{key.text, strings.TrimPrefix(path+"."+key.text, "."), table.Content[i].Line, value{}}
		if f.key == "<<" {
			f.path = path
		} else if before, ok := lines[f.key]; ok {
			return nil, &Error{f.at, fmt.Sprintf("has the key %q twice in one table, before in line %d; leave one of them", f.key, before)}
		}
		if f.value, err = r.value(table.Content[i+1], f.path, depth); err != nil {
			return nil, err
		}
		if f.key == "<<" {
			for _, from := range append(f.list, f.value) {
				merged = append(merged, from.fields...)
			}
			continue
		}
		lines[f.key] = f.at
		fields = append(fields, f)
	}
	for _, f := range merged {
		if _, ok := lines[f.key]; !ok {
			lines[f.key] = f.at
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// isOff says whether a value asks for nothing.
func (v value) isOff() bool {
	for _, f := range v.fields {
		if f.key == "enabled" && f.text == "false" {
			return true
		}
	}
	return v.isNull || v.text == "false" || v.kind != yaml.ScalarNode && len(v.list)+len(v.fields) == 0
}

// fieldsOf are those of a table; what isn't one has none.
func (c *converter) fieldsOf(v value) []field {
	if v.kind != yaml.MappingNode && !v.isOff() {
		c.notes = append(c.notes, Note{v.line, "what stands here is left out: it isn't a table of keys"})
	}
	return v.fields
}

// textOf is a text; "" for what isn't one.
func (c *converter) textOf(f field) string {
	switch {
	case f.kind != yaml.ScalarNode:
		c.note(f, "is left out: it isn't a text")
	case !f.isNull:
		return f.text
	}
	return ""
}

// textsOf is a list of texts; a text alone is a list of one.
func (c *converter) textsOf(f field) (texts []string) {
	items := []value{f.value}
	if f.kind == yaml.SequenceNode {
		items = f.list
	}
	for _, item := range items {
		if f.isNull {
			return nil
		}
		if item.kind != yaml.ScalarNode {
			c.notes = append(c.notes, Note{item.line, f.path + " is left out: it isn't a list of texts"})
			return nil
		}
		texts = append(texts, item.text)
	}
	return texts
}
