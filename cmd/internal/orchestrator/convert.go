// Package orchestrator says what a ralph.yml of ralph-orchestrator, of its first
// version or its second, means in the words of ralph.toml.
package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Note says what became of a line of the file.
type Note struct {
	Line int // 1-based
	Text string
}

// Result is a file in our words.
type Result struct {
	Settings   []byte // for ralph.toml
	Prompt     string // for PROMPT.md; "" when the file has none
	PromptFile string // that the file names, or "PROMPT.md"
	Notes      []Note // what is left out, and what means something else; by line
}

// A converter takes over the keys that rows know. What nobody has asked for then is left out.
type converter struct {
	root    *field
	builtin []string // names of the known backends
	backend string   // the loop's own
	promise string   // what ends a loop there
	hats    []*hat
	hat     *hat // whose rows are at hand
	notes   []Note

	tables []string          // of the new file, in their order
	lines  map[string]string // by table
}

// hat is one of the file's, and of ours.
type hat struct {
	*field
	hats.Hat
}

const heading = `# Settings of ralph-lsp for this folder, taken over from a file of ralph-orchestrator;
# docs/CONFIG.md has all keys. What they run or loosen counts when the file is
# trusted: ralph-lsp trust
`

// about says what tables of the new file are for.
var about = map[string]string{
	"limits":     "# when a loop ends although nobody promised that it is done; 0 is no limit\n",
	"completion": "# how the agent says that it is done\n",
	"verify":     "# a promise counts when this passes\n",
}

// Convert reads a file. builtin are the names of the known backends. Errors are
// of type *Error; what it returns else is a file without mistakes.
func Convert(data []byte, builtin []string) (Result, error) {
	root, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	c := &converter{root: root, builtin: builtin, backend: config.Auto, promise: promises.DefaultWord, lines: map[string]string{}}
	c.promise = cmp.Or(root.key("completion_promise").text, root.at("event_loop.completion_promise").text, c.promise)
	c.readHats()
	for _, r := range rows {
		c.take(root, r)
	}
	for _, adapter := range root.key("adapters").tables() {
		adapter.key("enabled")
		if table := "backends." + adapter.name; slices.Contains(builtin, adapter.name) && !strings.Contains(c.lines[table], "args = ") {
			c.take(adapter, row{theirs: "args", table: table, ours: "args", turn: texts})
		}
	}
	for _, c.hat = range c.hats {
		for _, r := range hatRows {
			r.table = "hats." + c.hat.Name
			c.take(c.hat.field, r)
		}
	}
	result := Result{PromptFile: cmp.Or(root.key("prompt_file").text, root.at("event_loop.prompt_file").text, "PROMPT.md")}
	if !strings.Contains(c.lines[""], "prompt_file = ") {
		result.Prompt = cmp.Or(root.key("prompt").text, root.at("event_loop.prompt").text)
	}
	if rules := root.at("core.guardrails"); len(c.hats) == 0 && result.Prompt != "" {
		result.Prompt = withRules(result.Prompt, rules.texts())
	} else {
		rules.isUsed = len(c.hats) > 0
	}
	c.tellUnused(root)
	slices.SortStableFunc(c.notes, func(a, b Note) int { return a.Line - b.Line })
	result.Settings, result.Notes = []byte(heading), c.notes
	for _, table := range c.tables {
		result.Settings = append(result.Settings, "\n"+about[table]+header(table)+c.lines[table]...)
	}
	if len(result.Settings) > config.MaxSize {
		return Result{}, &Error{0, fmt.Sprintf("has more instructions than fit into a ralph.toml of %d bytes; put the longest into files, and name them there as instructions_file", config.MaxSize)}
	}
	if why := mistake(result.Settings, builtin); why != "" {
		return Result{}, &Error{1, "can't be taken over: " + why}
	}
	return result, nil
}

// take puts what a row knows into the new file, if it may stand there.
func (c *converter) take(from *field, r row) {
	if r.table == ofAgent {
		if c.backend == config.Auto {
			return
		}
		r.table += c.backend
	}
	f := from.at(r.theirs)
	if older := from.key(r.first); r.first != "" && older.line > 0 {
		f = older
	}
	value, known := r.turn(c, f), append([]string{c.backend}, c.builtin...) // the loop's own may be described later
	line := r.ours + " = " + value + "\n"
	if value == "" {
		f.isUsed = false
	} else if why := mistake([]byte(header(r.table)+line), known); why != "" && len(value) <= config.MaxSize/2 { // that all of it is too long is said of the whole
		f.isUsed, f.why = false, why
	} else {
		if !slices.Contains(c.tables, r.table) {
			c.tables = append(c.tables, r.table)
		}
		c.lines[r.table] += line
	}
}

func header(table string) string { return strings.TrimPrefix("["+table+"]\n", "[]\n") }

// mistake is what keeps a ralph.toml from being read; "" is nothing.
func mistake(settings []byte, known []string) string {
	for _, p := range config.Check(settings, known) {
		if p.Severity == config.Error {
			return p.Message
		}
	}
	return ""
}

// readHats reads the hats with their topics, and says which comes first.
func (c *converter) readHats() {
	for _, f := range c.root.key("hats").tables() {
		if hats.CheckTopic(f.name) != "" || strings.Contains(f.name, ".") {
			f.isUsed, f.why = false, "its name may have letters, digits, dashes and underscores"
			continue
		}
		h := &hat{f, hats.Hat{Name: f.name}}
		h.Triggers, h.Publishes = c.topics(h, "triggers"), c.topics(h, "publishes")
		h.DefaultPublishes = strings.Join(c.topics(h, "default_publishes"), "")
		c.hats = append(c.hats, h)
	}
	takesAll := func(h *hat) bool { return slices.Contains(h.Triggers, "*") } // the first that listens gets a topic, so these come last
	others := slices.DeleteFunc(slices.Clone(c.hats), takesAll)
	c.hats = append(others, slices.DeleteFunc(c.hats, func(h *hat) bool { return !takesAll(h) })...)
	switch {
	case len(c.hats) == 0:
	case c.ring().HandsOver():
		c.begin()
	default:
		c.note(c.hats[0].field, "hands nothing over, nor does another: none has triggers; choose one at a start: ralph-lsp run --hat %s", c.hats[0].Name)
	}
}

// begin says with which hat a loop begins: the one that the file's first topic wakes, or has
// the name of, else one that no other hat wakes.
func (c *converter) begin() {
	start := cmp.Or(c.root.at("event_loop.starting_event").text, c.root.at("event_loop.starting_hat").text)
	woken := c.ring().Woken(start)
	find := func(is func(*hat) bool) *hat {
		if i := slices.IndexFunc(c.hats, is); i >= 0 {
			return c.hats[i]
		}
		return nil
	}
	listens := func(h *hat) bool { return len(h.Triggers) > 0 }
	isFirst := func(h *hat) bool {
		return slices.Contains(h.Triggers, hats.Start) || slices.Contains(h.Triggers, "task.start")
	}
	first := cmp.Or(
		find(func(h *hat) bool { return start != "" && (h.Name == woken || woken == "" && h.name == start) }), find(isFirst),
		find(func(h *hat) bool { return listens(h) && !slices.ContainsFunc(h.Triggers, c.ring().MayPublish) }), find(listens))
	if isFirst(first) {
		return
	}
	if !c.ring().MayPublish(start) { // nobody else says it
		first.Triggers = slices.DeleteFunc(first.Triggers, func(t string) bool { return t == start })
	}
	first.Triggers = slices.Insert(first.Triggers, 0, hats.Start)
	c.note(first.field, "listens to %s: a loop begins with it at once, without an iteration that coordinates", hats.Start)
}

// topics are those that a key of a hat has, without what means nothing here.
func (c *converter) topics(h *hat, key string) (kept []string) {
	f := h.key(key)
	for _, topic := range f.texts() {
		switch {
		case topic == "":
		case topic == c.promise:
			h.MayFinish = new(true)
			c.note(f, "has the promise, which is no topic: may_finish = true says that %s may keep it", h.Name)
		case hats.CheckPattern(topic) != "" || strings.HasPrefix(topic, "human.") || topic == "user.prompt":
			c.note(f, "is without %q, which isn't a topic here", topic)
		case !slices.Contains(kept, topic):
			kept = append(kept, topic)
		}
	}
	return kept
}

// tellUnused says what of a table isn't taken over.
func (c *converter) tellUnused(table *field) {
	for _, f := range table.list {
		switch why := cmp.Or(f.why, instead[f.path], instead["."+f.name]); {
		case f.isUsed && f.kind == yaml.MappingNode:
			c.tellUnused(f)
		case f.isUsed || f.isTold || !f.says() || strings.HasPrefix(f.path, "_"): // anchors, by their convention
		default:
			c.note(f, "%s", strings.TrimSuffix("is left out: "+why, ": "))
		}
	}
}

// note says what became of a key.
func (c *converter) note(f *field, format string, args ...any) {
	f.isTold = true
	c.notes = append(c.notes, Note{max(f.line, 1), f.path + " " + fmt.Sprintf(format, args...)})
}

// quote writes a text as TOML has it, over several lines if it has some; "" is a blank one.
func quote(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return ""
	case !strings.Contains(s, "\n"):
		return `"` + escape(s, "") + `"`
	case strings.Contains(s, `""`) || strings.HasSuffix(s, `"`):
		return "\"\"\"\n" + escape(s, "\n\t") + `"""`
	}
	return "\"\"\"\n" + escape(s, "\n\t\"") + `"""`
}

// quoteAll writes a list of texts; "" is an empty one.
func quoteAll(list []string) string {
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, `"`+escape(s, "")+`"`)
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
