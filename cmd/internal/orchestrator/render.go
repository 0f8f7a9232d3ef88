package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// entry is a line of the new file: they stay in the order in which they came.
type entry struct{ table, key, value string }

func (c *converter) has(table, key string) bool {
	return slices.ContainsFunc(c.out, func(e entry) bool { return e.table == table && e.key == key })
}

const heading = `# Settings of ralph-lsp for this folder, taken over from a file of ralph-orchestrator;
# docs/CONFIG.md has all keys. What they run or loosen counts when the file is
# trusted: ralph-lsp trust
`

// render writes the new file: its tables in our order, each with what it is about.
func (c *converter) render() []byte {
	text := heading + c.table("", "") + c.table("limits", "when a loop ends although nobody promised that it is done; 0 is no limit") +
		c.table("completion", "how the agent says that it is done") + c.table("verify", "a promise counts when this passes")
	var agents []string
	for _, e := range c.out {
		if strings.HasPrefix(e.table, "backends.") && !slices.Contains(agents, e.table) {
			agents = append(agents, e.table)
			text += c.table(e.table, "")
		}
	}
	if len(c.hats) > 0 {
		text += "\n# The hats; ralph-lsp hats draws them.\n"
	}
	for _, h := range c.hats {
		text += c.table("hats."+h.Name, strings.Join(strings.Fields(stream.Plain(h.title)), " "))
	}
	return []byte(text)
}

// table is one of the new file's with what it is about; "" for one without a key.
func (c *converter) table(name, about string) (text string) {
	for _, e := range c.out {
		if e.table == name {
			text += e.key + " = " + e.value + "\n"
		}
	}
	if text == "" {
		return ""
	}
	if name != "" {
		text = "[" + name + "]\n" + text
	}
	if about != "" {
		text = "# " + about + "\n" + text
	}
	return "\n" + text
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
	if len(list) == 0 {
		return ""
	}
	quoted := slices.Clone(list)
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
