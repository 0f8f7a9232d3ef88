package documents

import (
	"strings"

	"ralph-lsp/config"
	"ralph-lsp/loopstate"
	"ralph-lsp/sandbox"
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
	{Path: []string{"agents"}, Type: config.Text, Doc: "The agents of markdown files that do the work, as on a command line: `--chain scout,worker`. When the loop is continued, their files are read again, and those of the folder need your trust."},
	{Path: []string{"model"}, Type: config.Text, Doc: "The agent's model; without it, the agent chooses."},
	{Path: []string{"backend_args"}, Type: config.Texts, Doc: "Arguments that the agent gets after the backend's own."},
	{Path: []string{"backend_output"}, Type: config.Text, Doc: "What a program of your own prints: `text`, or the stream of a known agent."},
	{Path: []string{"backend_prompt"}, Type: config.Text, Doc: "How a program of your own gets the prompt: `stdin`, `arg` or `file`."},
	{Path: []string{"quiet"}, Type: config.Switch, Default: "false", Doc: "`true` keeps the loop's rules from the agent."},
	{Path: []string{"sandbox"}, Type: config.Text, Values: []string{sandbox.Workspace}, Doc: "The walls around the agents; a loop that is continued has them again. `ralph-lsp resume --sandbox off` takes them away."},
	{Path: []string{"sandbox_engine"}, Type: config.Text, Values: []string{sandbox.Bubblewrap, sandbox.Runtime}, Doc: "What makes these walls."},
	{Path: []string{"cost_usd"}, Type: config.Dollars, Doc: "What the loop has cost so far; the loop counts it."},
	sharedKey("max_cost_usd", "limits"),
	sharedKey("max_duration", "limits"),
	sharedKey("idle_timeout", "limits"),
	sharedKey("max_consecutive_failures", "limits"),
	sharedKey("max_unchanged_iterations", "limits"),
	sharedKey("max_unknown_cost_runs", "limits"),
	{Path: []string{"elapsed"}, Type: config.Duration, Doc: "How long the loop has run, without waits and pauses; the loop counts it."},
	{Path: []string{"resume_at"}, Type: "time", Doc: "When a loop that waits goes on. A time that has passed ends the wait."},
	{Path: []string{"tokens_used"}, Type: config.Text, Doc: "The tokens used so far; the loop counts them."},
	{Path: []string{"begun"}, Type: config.Switch, Default: "false",
		Doc: "`true` while the iteration runs. Of a loop that nobody drives it says that the iteration was cut off or failed: it counts, and the next one begins when the loop is continued. Without it, the iteration is run again."},
	countKey("failures", "How many runs in a row have failed; `max_consecutive_failures` is their limit."),
	countKey("start_failures", "How many runs in a row failed before an agent began to work. The third ends a loop in which none ever did."),
	countKey("stalls", "How many runs in a row were silent for longer than `idle_timeout`. The second ends the loop."),
	countKey("denials", "In how many runs in a row the agent was refused a permission. The second ends the loop."),
	countKey("short_runs", "How many runs in a row ended well within 2 seconds and used no tool. From the second on the loop pauses between them, longer each time."),
	countKey("rate_limits", "How many runs in a row were refused by a rate limit. The loop waits longer each time."),
	countKey("overloads", "How many runs in a row were refused because the provider was overloaded. The loop waits longer each time."),
	countKey("refuted", "How many promises in a row weren't true, as the verification found; `verify.max_failures` is their limit."),
	countKey("no_progress", "How many runs in a row brought nothing new; `max_unchanged_iterations` is their limit."),
	countKey("unknown_costs", "How many runs in a row cost what nobody knows; `max_unknown_cost_runs` is their limit."),
	countKey("unknown_costs_total", "The cost of how many runs isn't in `cost_usd`, as nobody knows it."),
	{Path: []string{"checking"}, Type: config.Switch, Default: "false", Doc: "`true` while it is still to be verified what the last iteration did; the loop writes it. A loop that was interrupted then goes on with that."},
	{Path: []string{"promised"}, Type: config.Text, Doc: "What the last iteration promised, while that isn't verified; the loop writes it."},
	{Path: []string{"unchecked"}, Type: config.Text, Doc: "Why that can't be verified; the loop pauses for it."},
	{Path: []string{"accept"}, Type: config.Switch, Default: "false", Doc: "`true` while the loop pauses for that: with `active: true` the promise counts all the same."},
	{Path: []string{"refutation"}, Type: config.Text, Doc: "What the next iteration's agent is told of the last verification; the loop writes it."},
	{Path: []string{"stuck"}, Type: config.Text, Doc: "The call that failed again and again in the last iteration, for the next one's agent; the loop writes it."},
	{Path: []string{"topics"}, Type: config.Texts, Doc: "The topics that wait for a hat, the oldest first, each as `TOPIC from HAT for HAT: payload`. That of the hat that runs is the first. What you change counts from the next iteration."},
	{Path: []string{"hat_runs"}, Type: config.Texts, Doc: "How often each hat has run, such as `builder 4`; `max_runs` is the limit."},
	{Path: []string{"hat_costs"}, Type: config.Texts, Doc: "What each hat's runs have cost in US dollars, such as `builder 1.2`; with a `+` behind it some runs' cost is unknown, `?` is nobody knows. The loop writes it; what you change counts."},
	{Path: []string{"published"}, Type: config.Texts, Doc: "How often each topic came with the same payload; the loop writes it, and what you change there doesn't count."},
	{Path: []string{"stop_reason"}, Type: config.Text,
		Doc: "Why the loop failed; the loop writes it, and takes it out when it goes on. Without this key the loop was interrupted."},
	{Path: []string{"stop_error"}, Type: config.Text, Doc: "What went wrong last in a loop that failed."},
	{Path: []string{"stopped_at"}, Type: "time", Doc: "When the loop failed."},
	{Path: []string{"guidance"}, Type: config.Texts, Doc: "What the agent is told besides the prompt: the running one at its next step, where it can be talked to, else that of the next iteration."},
	{Path: []string{"guidance_next"}, Type: config.Texts, Doc: "What only the next iteration's agent is told besides the prompt."},
	{Path: []string{"guided"}, Type: config.Texts, Doc: "What the running iteration's agent was told besides the prompt."},
	{Path: []string{"end_iteration"}, Type: config.Count, Doc: "An iteration that is to be over now, with what it has cost; the next one begins. Any other than the running one isn't meant."},
	{Path: []string{"permissions"}, Type: config.Text, Values: []string{"agent", "ask"}, Doc: "`ask` has the agents ask you for what they may do."},
	{Path: []string{"ask_timeout"}, Type: config.Duration, Doc: "How long such a question waits for an answer before it is denied; without it, it waits for you, in a loop that nobody looks at for 30 minutes."},
	{Path: []string{"allowed"}, Type: config.Texts, Doc: "What you have allowed in this loop, such as `Bash(git commit:*)`; what you take out is asked again."},
	{Path: []string{"questions"}, Type: config.Texts, Doc: "What the agents ask now, for other processes; the loop writes it."},
	{Path: []string{"answers"}, Type: config.Texts, Doc: "Answers of other processes, which the loop takes."},
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
