package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ralph-lsp/stream"
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

// about are comments above tables.
var about = map[string]string{
	"limits":     "when a loop ends although nobody promised that it is done; 0 is no limit",
	"completion": "how the agent says that it is done",
	"verify":     "a promise counts when this passes",
}

// render writes the new file.
func (c *converter) render() []byte {
	var b strings.Builder
	b.WriteString(heading)
	write := func(table, why string) {
		first := true
		for _, e := range c.out.entries {
			if e.table != table {
				continue
			}
			if first {
				b.WriteByte('\n')
				if why != "" {
					b.WriteString("# " + comment(why) + "\n")
				}
				if table != "" {
					b.WriteString("[" + table + "]\n")
				}
			}
			first = false
			fmt.Fprintf(&b, "%s = %s\n", e.key, e.value)
		}
	}
	write("", "")
	for _, table := range []string{"limits", "completion", "verify"} {
		write(table, about[table])
	}
	var written []string
	for _, e := range c.out.entries {
		if strings.HasPrefix(e.table, "backends.") && !slices.Contains(written, e.table) {
			written = append(written, e.table)
			write(e.table, "")
		}
	}
	if len(c.hats) > 0 {
		b.WriteString("\n# The hats; ralph-lsp hats draws them.\n")
	}
	for _, h := range c.hats {
		write("hats."+h.name, h.title)
	}
	return []byte(b.String())
}

// quote writes a text as TOML has it, over several lines if it has some.
func quote(s string) string {
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

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quoteWord(s)
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
			b.WriteByte('\\')
			b.WriteRune(r)
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

// comment is a text fit for a comment.
func comment(s string) string {
	return strings.Join(strings.Fields(stream.Plain(s)), " ")
}
