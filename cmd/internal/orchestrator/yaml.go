package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
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
	key, path string // "timeout", "hats.planner.timeout"
	at, line  int    // of the key, and of the value
	kind      yaml.Kind
	text      string // of a scalar
	isNull    bool
	isBlock   bool     // a text begins on the line after this one
	list      []*field // the items, or the keys of a table: what is merged comes last
	isUsed    bool     // somebody has asked for it
}

// isOff says whether a value asks for nothing.
func (f *field) isOff() bool {
	isDisabled := slices.ContainsFunc(f.list, func(below *field) bool { return below.key == "enabled" && below.text == "false" })
	return isDisabled || f.isNull || f.text == "false" || f.kind != yaml.ScalarNode && len(f.list) == 0
}

// parse reads the table that a file is.
func parse(data []byte) (*field, error) {
	if len(data) > MaxSize {
		return nil, &Error{0, fmt.Sprintf("has more than %d bytes; that isn't a ralph.yml", MaxSize)}
	}
	if bad, ok := tell.FindBadByte(string(data)); ok {
		return nil, &Error{bad.Line, bad.String()}
	}
	var values any // its keys are there once, and its aliases end: else the nodes could be without end
	err := yaml.Load(data, &values)
	var doc yaml.Node
	if err == nil {
		err = yaml.Load(data, &doc)
	}
	at := &yaml.LoadError{}
	switch errors.As(err, &at); {
	case strings.TrimSpace(string(data)) == "", strings.Contains(at.Message, "no documents"):
		return nil, &Error{1, "is empty; there is nothing to take over"}
	case strings.Contains(at.Message, "single document"):
		return nil, &Error{1, "isn't one YAML document: " + strings.TrimPrefix(at.Message, "yaml: ") + "; leave one of them"}
	case at.Mark.Line > 0:
		return nil, &Error{at.Mark.Line, fmt.Sprintf("isn't YAML: %s (column %d); mend that line, or the one above it", at.Message, at.Mark.Column)}
	case err != nil:
		return nil, &Error{0, "isn't YAML: " + cmp.Or(at.Message, err.Error())}
	case len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode:
		return nil, &Error{1, "has no keys such as event_loop: and hats:; is it the right file?"}
	case len(doc.Content[0].Content) == 0:
		return nil, &Error{doc.Content[0].Line, "is empty; there is nothing to take over"}
	}
	return read(doc.Content[0], field{}), nil
}

// read fills a field with the value of a node.
func read(n *yaml.Node, f field) *field {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	f.line, f.kind, f.text, f.isNull, f.isBlock = n.Line, n.Kind, n.Value, n.ShortTag() == "!!null", n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	var merged []*field
	for i := 0; i < len(n.Content); i++ {
		if n.Kind == yaml.SequenceNode {
			f.list = append(f.list, read(n.Content[i], field{path: f.path}))
			continue
		}
		below := field{key: read(n.Content[i], field{}).text, at: n.Content[i].Line}
		if i++; below.key == "<<" {
			from := read(n.Content[i], field{path: f.path})
			for _, table := range append(from.list, from) {
				merged = append(merged, table.list...)
			}
			continue
		}
		below.path = strings.TrimPrefix(f.path+"."+below.key, ".")
		f.list = append(f.list, read(n.Content[i], below))
	}
	for _, more := range merged {
		if !slices.ContainsFunc(f.list, func(below *field) bool { return below.key == more.key }) {
			f.list = append(f.list, more)
		}
	}
	return &f
}
