package documents

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// stateKeys are the keys of the state file, for an editor's help.
var stateKeys = []config.Key{
	{Path: []string{"active"}, Type: config.Switch, Default: "true",
		Doc: "Whether the loop goes on. `false` pauses it when the running iteration is done."},
	{Path: []string{"iteration"}, Type: config.Count, Default: "1",
		Doc: "The iteration that ran last or runs next, as the loop was left or begun; the loop counts by itself while it runs."},
	sharedKey("max_iterations", "limits"),
	sharedKey("completion_promise", "completion", "promise"),
	{Path: []string{"started_at"}, Type: "time", Doc: "When the loop was started."},
	{Path: []string{"loop_id"}, Type: config.Text, Doc: "The loop's name for commands and logs."},
	{Path: []string{"backend"}, Type: config.Backend, Doc: "The agent that runs the loop."},
	{Path: []string{"hat"}, Type: config.Text, Doc: "The role that the loop was started with."},
	{Path: []string{"agents"}, Type: config.Text, Doc: "The agents of markdown files that do the work, as on a command line: `--chain scout,worker`. When the loop is continued, their files are read again, and those of the folder need your trust."},
	{Path: []string{"model"}, Type: config.Text, Doc: "The agent's model; without it, the agent chooses."},
	{Path: []string{"backend_args"}, Type: config.Texts, Doc: "Arguments that the agent gets after the backend's own."},
	{Path: []string{"backend_output"}, Type: config.Text, Doc: "What a program of your own prints: `text`, or the stream of a known agent."},
	{Path: []string{"backend_prompt"}, Type: config.Text, Doc: "How a program of your own gets the prompt: `stdin`, `arg` or `file`."},
	{Path: []string{"quiet"}, Type: config.Switch, Default: "false", Doc: "`true` keeps the loop's rules from the agent."},
	{Path: []string{"sandbox"}, Type: config.Text, Values: []string{sandbox.Workspace}, Doc: "The walls around the agents; a loop that is continued has them again. `ralph-lsp resume --sandbox off` takes them away."},
	{Path: []string{"sandbox_engine"}, Type: config.Text, Values: []string{sandbox.Bubblewrap, sandbox.Runtime}, Doc: "What makes these walls."},
	sharedKey("max_cost_usd", "limits"),
	sharedKey("max_duration", "limits"),
	sharedKey("idle_timeout", "limits"),
	sharedKey("max_consecutive_failures", "limits"),
	sharedKey("max_unchanged_iterations", "limits"),
	sharedKey("max_unknown_cost_runs", "limits"),
	{Path: []string{"permissions"}, Type: config.Text, Values: []string{"agent", "ask"}, Doc: "`ask` has the agents ask you for what they may do."},
	{Path: []string{"ask_timeout"}, Type: config.Duration, Doc: "How long such a question waits for an answer before it is denied; without it, it waits for you, in a loop that nobody looks at for 30 minutes."},
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

// statePlace is what is at an offset of a state file.
func statePlace(text string, offset int) config.Place {
	none := config.Place{Start: offset, End: offset}
	front, ok := loopstate.FrontOf(text)
	if !ok || offset < front.Start || offset > front.End || offset == front.End && front.End < len(text) {
		return none
	}
	from := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	if strings.TrimSpace(line) == "" {
		return config.Place{Where: config.InKey, Path: []string{""}, Start: offset, End: offset}
	}
	l, ok := front.LineAt(from)
	switch {
	case !ok:
		return none
	case l.Colon < 0 || offset <= l.Colon:
		return config.Place{Where: config.InKey, Path: []string{l.Key}, Start: l.KeyStart, End: max(l.KeyEnd, offset),
			Closed: l.Colon >= 0, Value: text[l.ValueStart:l.ValueEnd]}
	case offset > l.ValueEnd && l.ValueEnd > l.ValueStart, offset > l.ValueStart && l.ValueEnd == l.ValueStart:
		return none
	}
	p := config.Place{Where: config.InValue, Path: []string{l.Key}, Start: offset, End: offset, Closed: true}
	if l.ValueStart < l.ValueEnd {
		p.Start, p.End, p.Value = min(l.ValueStart, offset), l.ValueEnd, text[l.ValueStart:l.ValueEnd]
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
