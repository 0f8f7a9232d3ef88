package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// document is the new file: tables with their keys, both in the order in which they came.
type document struct{ entries []entry }

type entry struct{ table, key, value string }

func (d *document) set(table, key, value string) {
	for i, e := range d.entries {
		if e.table == table && e.key == key {
			d.entries[i].value = value
			return
		}
	}
	d.entries = append(d.entries, entry{table, key, value})
}

func (d *document) get(table, key string) (value string, ok bool) {
	i := slices.IndexFunc(d.entries, func(e entry) bool { return e.table == table && e.key == key })
	if i < 0 {
		return "", false
	}
	return d.entries[i].value, true
}

const heading = `# Settings of ralph-lsp for this folder, taken over from a file of ralph-orchestrator;
# docs/CONFIG.md has all keys. What they run or loosen counts when the file is
# trusted: ralph-lsp trust
`

// render writes the new file: its tables in our order, each with what it is about.
func (c *converter) render() []byte {
	tables := [][2]string{
		{"", ""}, {"limits", "when a loop ends although nobody promised that it is done; 0 is no limit"},
		{"completion", "how the agent says that it is done"}, {"verify", "a promise counts when this passes"},
	}
	for _, e := range c.out.entries {
		if table := [2]string{e.table, ""}; strings.HasPrefix(e.table, "backends.") && !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	hatsAt := len(tables)
	for _, h := range c.hats {
		tables = append(tables, [2]string{"hats." + h.name, strings.Join(strings.Fields(stream.Plain(h.title)), " ")})
	}
	var b strings.Builder
	b.WriteString(heading)
	for i, table := range tables {
		if i == hatsAt {
			b.WriteString("\n# The hats; ralph-lsp hats draws them.\n")
		}
		head := "\n"
		if table[1] != "" {
			head += "# " + table[1] + "\n"
		}
		if table[0] != "" {
			head += "[" + table[0] + "]\n"
		}
		for _, e := range c.out.entries {
			if e.table == table[0] {
				b.WriteString(head + e.key + " = " + e.value + "\n")
				head = ""
			}
		}
	}
	return []byte(b.String())
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
	if quoted == nil {
		return ""
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// escape escapes what can't stand between quotes, and what can't be seen, but for some characters.
func escape(s, but string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune(but, r):
			b.WriteRune(r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) || unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String()
}
