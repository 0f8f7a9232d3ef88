package documents

import (
	"strings"

	"ralph-lsp/config"
	"ralph-lsp/loopstate"
)

// stateKeys are the keys of the state file, for an editor's help.
var stateKeys = []config.Key{
	{Path: []string{"active"}, Type: config.Switch, Default: "true",
		Doc: "Whether the loop goes on. `false` pauses it when the running iteration is done."},
	{Path: []string{"iteration"}, Type: config.Count, Default: "1",
		Doc: "The iteration that runs now, or runs next; the loop counts it. A number that you write counts, as that of every key that the loop counts."},
	sharedKey("max_iterations", "limits"),
	sharedKey("completion_promise", "completion", "promise"),
	{Path: []string{"started_at"}, Type: "time", Doc: "When the loop was started."},
	{Path: []string{"loop_id"}, Type: config.Text, Doc: "The loop's name for commands and logs."},
	{Path: []string{"backend"}, Type: config.Backend, Doc: "The agent that runs the loop."},
	{Path: []string{"hat"}, Type: config.Text, Doc: "The role that the loop was started with."},
	{Path: []string{"model"}, Type: config.Text, Doc: "The agent's model; without it, the agent chooses."},
	{Path: []string{"backend_args"}, Type: config.Texts, Doc: "Arguments that the agent gets behind the backend's own."},
	{Path: []string{"backend_output"}, Type: config.Text, Doc: "What a program of your own prints: `text`, or the stream of a known agent."},
	{Path: []string{"backend_prompt"}, Type: config.Text, Doc: "How a program of your own gets the prompt: `stdin`, `arg` or `file`."},
	{Path: []string{"quiet"}, Type: config.Switch, Default: "false", Doc: "`true` keeps the loop's rules from the agent."},
	{Path: []string{"cost_usd"}, Type: config.Dollars, Doc: "What the loop has cost so far; the loop counts it."},
	sharedKey("max_cost_usd", "limits"),
	sharedKey("max_duration", "limits"),
	sharedKey("idle_timeout", "limits"),
	sharedKey("max_consecutive_failures", "limits"),
	{Path: []string{"elapsed"}, Type: config.Duration, Doc: "How long the loop has run, without waits and pauses; the loop counts it."},
	{Path: []string{"resume_at"}, Type: "time", Doc: "When a loop that waits goes on. A time that has passed ends the wait."},
	{Path: []string{"tokens_used"}, Type: config.Text, Doc: "The tokens used so far; the loop counts them."},
	{Path: []string{"begun"}, Type: config.Switch, Default: "false",
		Doc: "`true` while the iteration runs. Of a loop that nobody drives it says that the iteration was cut off or failed: it counts, and the next one begins when the loop is continued. Without it, the iteration is run again."},
	countKey("failures", "How many runs in a row have failed; `max_consecutive_failures` is their limit."),
	countKey("stalls", "How many runs in a row were silent for longer than `idle_timeout`. The second ends the loop."),
	countKey("denials", "In how many runs in a row the agent was refused a permission. The second ends the loop."),
	countKey("short_runs", "How many runs in a row ended well within 2 seconds and used no tool. From the second on the loop pauses between them, longer each time."),
	countKey("rate_limits", "How many runs in a row were refused by a rate limit. The loop waits longer each time."),
	countKey("overloads", "How many runs in a row were refused because the provider was overloaded. The loop waits longer each time."),
	{Path: []string{"stop_reason"}, Type: config.Text,
		Doc: "Why the loop failed; the loop writes it, and takes it out when it goes on. Without this key the loop was interrupted."},
	{Path: []string{"stop_error"}, Type: config.Text, Doc: "What went wrong last in a loop that failed."},
	{Path: []string{"stopped_at"}, Type: "time", Doc: "When the loop failed."},
	{Path: []string{"guidance"}, Type: config.Texts, Doc: "What the next iteration's agent is told besides the prompt."},
	{Path: []string{"guided"}, Type: config.Texts, Doc: "What the running iteration's agent was told besides the prompt."},
	{Path: []string{"cancel"}, Type: config.Switch, Default: "false", Doc: "`true` ends the loop now."},
	{Path: []string{"session_file"}, Type: config.Text, Doc: "The file with the loop's history."},
}

// countKey is a key with which the loop counts runs that went the same way.
func countKey(name, doc string) config.Key {
	return config.Key{Path: []string{name}, Type: config.Count, Default: "0", Doc: doc + " The loop counts them; a number that you write counts."}
}

// sharedKey is a key of the state file that means what one of ralph.toml does,
// by default one of the same name.
func sharedKey(name string, path ...string) config.Key {
	if len(path) == 1 {
		path = append(path, name)
	}
	key, _ := config.Lookup(path...)
	key.Path = []string{name}
	if name == "completion_promise" {
		key.Default, key.Samples = "null", append(key.Samples, "null")
	}
	return key
}

func stateKey(name string) (config.Key, bool) {
	for _, key := range stateKeys {
		if key.Name() == name {
			return key, true
		}
	}
	return config.Key{}, false
}

func stateKeyNames() []string {
	var names []string
	for _, key := range stateKeys {
		names = append(names, key.Name())
	}
	return names
}

// frontMatter returns where the lines between the two fences of a state file
// are. Without a second one they go to the end; without a first, ok is false.
func frontMatter(text string) (start, end int, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(strings.TrimPrefix(first, "\uFEFF"), " \t\r") != "---" || len(first) == len(text) {
		return 0, 0, false
	}
	start = len(text) - len(rest)
	end = start
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\r\n") == "---" {
			return start, end, true
		}
		end += len(line)
	}
	return start, len(text), true
}

// stateLine is a "key: value" line of the front matter, as offsets.
type stateLine struct {
	key                  string
	keyStart, keyEnd     int
	colon                int // -1: there is none
	valueStart, valueEnd int
}

// readStateLine finds the key and the value of a line at an offset. Comments,
// blank lines, and lines that go on with a value have none.
func readStateLine(line string, offset int) (l stateLine, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if line == "" || strings.ContainsRune(" \t#", rune(line[0])) || strings.HasPrefix(line, "- ") || line == "-" {
		return l, false
	}
	key, value, found := strings.Cut(line, ":")
	trimmed := strings.TrimRight(key, " \t")
	l = stateLine{key: strings.Trim(trimmed, "\"'"), keyStart: offset, keyEnd: offset + len(trimmed), colon: -1}
	if !found {
		return l, true
	}
	l.colon = offset + len(key)
	end := offset + len(line)
	bare := strings.TrimLeft(value, " \t")
	l.valueStart = end - len(bare)
	l.valueEnd = l.valueStart + valueLength(bare)
	return l, true
}

// valueLength is the length of a value without the comment and blanks behind it.
func valueLength(value string) int {
	if value == "" {
		return 0
	}
	if q := value[0]; q == '"' || q == '\'' {
		if last := strings.LastIndexByte(value, q); last > 0 {
			return last + 1
		}
		return len(value)
	}
	if value[0] == '#' {
		return 0
	}
	value, _, _ = strings.Cut(value, " #")
	return len(strings.TrimRight(value, " \t"))
}

// stateLines returns the lines of the front matter that have a key.
func stateLines(text string) []stateLine {
	start, end, ok := frontMatter(text)
	if !ok {
		return nil
	}
	var lines []stateLine
	for line := range strings.Lines(text[start:end]) {
		if l, ok := readStateLine(line, start); ok {
			lines = append(lines, l)
		}
		start += len(line)
	}
	return lines
}

// stateLineOf returns the line that sets a key.
func stateLineOf(text, key string) (stateLine, bool) {
	for _, l := range stateLines(text) {
		if l.key == key && l.colon >= 0 {
			return l, true
		}
	}
	return stateLine{}, false
}

// statePlace is what is at an offset of a state file.
func statePlace(text string, offset int) config.Place {
	none := config.Place{Start: offset, End: offset}
	start, end, ok := frontMatter(text)
	if !ok || offset < start || offset > end || offset == end && end < len(text) {
		return none
	}
	from := strings.LastIndexByte(text[:offset], '\n') + 1
	line := text[from:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if strings.TrimSpace(line) == "" {
		return config.Place{Where: config.InKey, Path: []string{""}, Start: offset, End: offset}
	}
	l, ok := readStateLine(line, from)
	switch {
	case !ok:
		return none
	case l.colon < 0 || offset <= l.colon:
		p := config.Place{Where: config.InKey, Path: []string{l.key}, Start: l.keyStart, End: max(l.keyEnd, offset), Closed: l.colon >= 0}
		p.Value = text[l.valueStart:l.valueEnd]
		return p
	case offset > l.valueEnd && l.valueEnd > l.valueStart, offset > l.valueStart && l.valueEnd == l.valueStart:
		return none
	}
	p := config.Place{Where: config.InValue, Path: []string{l.key}, Start: offset, End: offset, Closed: true}
	if l.valueStart < l.valueEnd {
		p.Start, p.End, p.Value = min(l.valueStart, offset), l.valueEnd, text[l.valueStart:l.valueEnd]
	}
	return p
}

// editState returns the edits that make a state file say something else; none
// for a file that can't be read.
func editState(text string, change func(*loopstate.State)) []edit {
	doc, err := loopstate.Parse([]byte(text))
	if err != nil {
		return nil
	}
	state := doc.State()
	change(&state)
	doc.Set(state)
	return difference(text, string(doc.Bytes()))
}
