package loopstate

import (
	"cmp"
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A block is a run of lines of the front matter: a top-level key with its
// value, or the comments, blank lines and stray lines between two of them.
type block struct {
	key  string // "" when there is none
	text string // with line endings
}

// splitBlocks cuts the front matter at its top-level keys. Each key's text can
// then be read and replaced by itself: a value that isn't YAML spoils nothing
// else, and what isn't replaced keeps every byte.
func splitBlocks(front string) []block {
	var blocks []block
	start, end := 0, 0 // of the last block that has lines; comments behind end wait for an owner
	flush := func(to int) {
		if start < end {
			blocks = append(blocks, newBlock(front[start:end]))
		}
		if end < to {
			blocks = append(blocks, block{text: front[end:to]})
		}
		start, end = to, to
	}
	pos := 0
	verbatim := false // inside "key: |", where a comment is text
	for line := range strings.Lines(front) {
		next := pos + len(line)
		switch {
		case isComment(line) && !(verbatim && isIndented(line)):
			// It goes with what follows: a continuation takes it in.
		case isContinuation(line) && start < end:
			end = next
		default:
			flush(pos)
			end = next
			verbatim = opensBlockScalar(line)
		}
		pos = next
	}
	flush(pos)
	return blocks
}

func newBlock(text string) block {
	line, _ := cutLine(text)
	key, _, ok := strings.Cut(line, ":")
	if !ok || isContinuation(line) {
		return block{text: text} // a stray line
	}
	return block{key: strings.Trim(key, " \t\"'"), text: text}
}

// isComment says whether a line is a comment or blank.
func isComment(line string) bool {
	trimmed := strings.TrimSpace(line)
	return trimmed == "" || trimmed[0] == '#'
}

func isIndented(line string) bool {
	return line[0] == ' ' || line[0] == '\t'
}

// isContinuation says whether a line belongs to the key above it. A list's
// items needn't be indented.
func isContinuation(line string) bool {
	return isIndented(line) || strings.HasPrefix(line, "- ") || strings.TrimSpace(line) == "-"
}

// opensBlockScalar says whether the value of a key line is the lines below it,
// as in "key: |" or "key: >-". Further lines don't matter.
func opensBlockScalar(text string) bool {
	line, _ := cutLine(text)
	_, value, _ := strings.Cut(line, ":")
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	return value != "" && strings.Trim(value[1:], "+-123456789") == "" && (value[0] == '|' || value[0] == '>')
}

// lines returns the number of lines.
func (b block) lines() int { return strings.Count(b.text, "\n") }

var (
	errNotText = errors.New("is not a text; put it in quotes")
	errNotList = errors.New("is not a list of texts; write one per line, after \"- \" and in quotes")
)

// scalar returns the value's text without quotes; "" for null. A value on one
// line that is not YAML counts as it stands: shell tools put any text between
// quotes without escaping it.
func (b block) scalar() (text string, null bool, err error) {
	if text, null, ok := b.simple(); ok {
		return text, null, nil
	}
	return b.anyScalar()
}

// anyScalar is scalar by the parser of YAML.
func (b block) anyScalar() (text string, null bool, err error) {
	_, value := b.nodes()
	if value != nil && value.Kind == yaml.ScalarNode {
		null = value.ShortTag() == "!!null"
		if null {
			return "", true, nil
		}
		return value.Value, false, nil
	}
	if b.lines() > 1 {
		return "", false, errNotText
	}
	_, raw, _ := strings.Cut(b.text, ":")
	return strings.ToValidUTF8(unquote(strings.TrimSpace(raw)), "\uFFFD"), false, nil
}

// list returns the value's texts. One text that isn't in a list counts as a
// list of one.
func (b block) list() ([]string, error) {
	_, value := b.nodes()
	if value == nil || value.Kind != yaml.SequenceNode {
		text, null, err := b.scalar()
		switch {
		case err != nil:
			return nil, errNotList
		case null:
			return nil, nil
		}
		return []string{text}, nil
	}
	var texts []string
	for _, item := range value.Content {
		switch {
		case item.Kind != yaml.ScalarNode:
			return nil, errNotList
		case item.ShortTag() == "!!null":
			texts = append(texts, "")
		default:
			texts = append(texts, item.Value)
		}
	}
	return texts, nil
}

// nodes parses the block as a mapping of one key. Both are nil when it is
// something else.
func (b block) nodes() (key, value *yaml.Node) {
	var doc yaml.Node
	if err := yaml.Load([]byte(b.text), &doc); err != nil || len(doc.Content) == 0 {
		return nil, nil
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode || len(m.Content) != 2 {
		return nil, nil
	}
	return m.Content[0], m.Content[1]
}

// unquote takes off the outer quotes, and a comment behind the closing one.
// Quotes inside stay as they are.
func unquote(s string) string {
	if quoted, _, ok := cutQuoted(s); ok {
		return quoted[1 : len(quoted)-1]
	}
	return s
}

// cutQuoted splits what is between the outer quotes, with these, from a comment
// behind it; ok is false for anything else.
func cutQuoted(s string) (quoted, comment string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", "", false
	}
	last := strings.LastIndexByte(s, s[0])
	comment = strings.TrimLeft(s[last+1:], " \t")
	if last == 0 || s[last+1:] != "" && !strings.HasPrefix(comment, "#") {
		return "", "", false
	}
	return s[:last+1], comment, true
}

// comment returns the comment at the end of a one-line value, with the white
// space before it.
func (b block) comment() string {
	if b.lines() > 1 || !strings.Contains(b.text, "#") {
		return ""
	}
	line := strings.TrimRight(b.text, "\r\n")
	comment := ""
	if key, value := b.nodes(); value == nil {
		_, raw, _ := strings.Cut(line, ":")
		_, comment, _ = cutQuoted(strings.TrimSpace(raw))
	} else {
		comment = cmp.Or(value.LineComment, key.LineComment) // an empty value's comment belongs to the key
	}
	if comment == "" || !strings.HasSuffix(line, comment) {
		return ""
	}
	before := strings.TrimSuffix(line, comment)
	return line[len(strings.TrimRight(before, " \t")):]
}
