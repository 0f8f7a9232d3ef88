package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// document is the new file: tables in their order, each with its lines and what it is about.
type document struct {
	tables       []string
	lines, about map[string]string
}

func newDocument() document {
	return document{[]string{"", "limits", "completion", "verify"}, map[string]string{}, map[string]string{
		"limits":     "when a loop ends although nobody promised that it is done; 0 is no limit",
		"completion": "how the agent says that it is done",
		"verify":     "a promise counts when this passes",
	}}
}

func (d *document) add(table, key, value string) {
	if !slices.Contains(d.tables, table) {
		d.tables = append(d.tables, table)
	}
	d.lines[table] += key + " = " + value + "\n"
}

func (d *document) has(table, key string) bool {
	return strings.Contains("\n"+d.lines[table], "\n"+key+" = ")
}

const heading = `# Settings of ralph-lsp for this folder, taken over from a file of ralph-orchestrator;
# docs/CONFIG.md has all keys. What they run or loosen counts when the file is
# trusted: ralph-lsp trust
`

// render writes the new file.
func (d *document) render() []byte {
	text, of := heading, "\n# The hats; ralph-lsp hats draws them.\n"
	for _, table := range d.tables {
		if strings.HasPrefix(table, "hats.") {
			text, of = text+of, ""
		}
		if d.lines[table] != "" {
			text += "\n"
		}
		if about := d.about[table]; about != "" && d.lines[table] != "" {
			text += "# " + about + "\n"
		}
		if table != "" && d.lines[table] != "" {
			text += "[" + table + "]\n"
		}
		text += d.lines[table]
	}
	return []byte(text)
}

// quote writes a text as TOML has it, over several lines if it has some; "" is a blank one.
func quote(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	if !strings.Contains(s, "\n") {
		return quoteWord(s)
	}
	s = strings.ReplaceAll(escape(s, "\n\t\""), `"""`, `""\"`)
	if strings.HasSuffix(s, `"`) {
		s = s[:len(s)-1] + `\"`
	}
	return "\"\"\"\n" + s + `"""`
}

// quoteWord writes a text on one line.
func quoteWord(s string) string { return `"` + escape(s, "") + `"` }

// quoteAll writes a list of texts; "" is an empty one.
func quoteAll(list []string) string {
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, quoteWord(s))
	}
	return strings.TrimSuffix("["+strings.Join(quoted, ", ")+"]", "[]")
}

// escape escapes what can't stand between quotes, and what can't be seen, but for some characters.
func escape(s, but string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune(but, r), r != '"' && r != '\\' && (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)):
			b.WriteRune(r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String()
}
