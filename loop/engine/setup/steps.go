package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Tools by which the loop's own agents are shown.
const (
	StepCall   = "step"
	ReviewCall = "review"
)

const (
	// MaxAtOnce is how many agents of a step work at the same time.
	MaxAtOnce = 4
	// maxTask is how much of a task is shown, in bytes.
	maxTask = 2 << 10
)

// check says what is wrong with the steps of an iteration.
func (r Roles) check() error {
	if len(r.Steps) > 0 && r.HatsEmit() {
		return errors.New("hats that hand over and steps exclude each other: take out the hats' triggers, or the steps")
	}
	for i, step := range r.Steps {
		if len(step) == 0 || len(step) > limits.MaxAgents {
			return fmt.Errorf("step %d has %d agents: a step has 1 to %d", i+1, len(step), limits.MaxAgents)
		}
	}
	return nil
}

// WaveOf is the configuration of a turn whose topics are worked on side by side, all by its agent.
func (c Config) WaveOf(turn hats.Turn) *Config {
	c.Roles.AtOnce = len(turn.Topics)
	c.Roles.Steps = [][]Role{slices.Repeat([]Role{{Hat: turn.Hat, Backend: c.Backend, Args: c.Args}}, c.Roles.AtOnce)}
	return &c
}

// EachTopic are the runs of such a turn.
func (run Run) EachTopic() (all []Run) {
	for _, t := range run.Turn.Topics {
		run.Turn.Topics, run.TaskText = []hats.Topic{t}, strings.TrimSpace(t.Head()+"\n\n"+t.Payload)
		all = append(all, run)
	}
	return all
}

// Slot says which of an iteration's agents one is.
type Slot struct {
	Step, of int    // from 1
	K        int    // its number among the agents of its step, from 1
	Name     string // of the agent, with its number where the step has several of the name
	Alone    bool   // nobody works beside it
}

func (s Slot) IsLast() bool { return s.Step == s.of }

// String names the agent in a sentence: "step 2 of 3 (planner)".
func (s Slot) String() string {
	if s.of == 1 {
		return s.Name
	}
	return fmt.Sprintf("step %d of %d (%s)", s.Step, s.of, s.Name)
}

// Slots returns the slots of a step's agents.
func (r Roles) Slots(n int) []Slot {
	step := r.Steps[n]
	all := make([]Slot, len(step))
	for k, w := range step {
		name, before, same := stream.Line(w.Name, loop.LineLimit), 0, 0
		for i, other := range step {
			if other.Name == w.Name {
				same++
			}
			if i == k {
				before = same
			}
		}
		if same > 1 {
			name = fmt.Sprintf("%s %d", name, before)
		}
		all[k] = Slot{n + 1, len(r.Steps), k + 1, name, len(step) == 1}
	}
	return all
}

// Tasks of agents that are given none.
const (
	firstTask = "{prompt}"
	laterTask = "{prompt}\n\nWhat the step before this one came to:\n\n{previous}"
)

// TaskOf is what an agent is asked, after what was put into it.
func (w Role) TaskOf(at Slot, prompt, previous string) string {
	task := w.Task
	switch {
	case task == "" && at.Step == 1:
		task = firstTask
	case task == "":
		task = laterTask
	}
	return strings.NewReplacer("{prompt}", prompt, "{previous}", previous).Replace(task) // which looks at no place twice
}

// CallOf is the call under which an agent's work is shown. The result of the step before stands right above and isn't
// shown again, nor is a task that has nothing else.
func (w Role) CallOf(at Slot, id, prompt string) stream.ToolCall {
	shown := stream.Sanitize(w.TaskOf(at, prompt, "…"))
	if w.Task == "" && at.Step > 1 || strings.TrimSpace(shown) == "…" {
		shown = ""
	}
	if len(shown) > maxTask {
		shown = strings.ToValidUTF8(shown[:maxTask], "") + "..."
	}
	input, _ := json.Marshal(struct { // texts can always be encoded
		Agent string `json:"agent"`
		Task  string `json:"task"`
		Step  int    `json:"step"`
		Of    int    `json:"of"`
	}{at.Name, shown, at.Step, at.of})
	return stream.ToolCall{ID: id, Name: StepCall, Input: input}
}

// InstructStep returns what an agent of a step is started with, see Instruct. run has its task as the prompt.
func (c Config) InstructStep(w Role, at Slot, run Run) (prompt string, args []string) {
	c = c.As(w)
	if at.Step > 1 && !at.IsLast() { // the first and the last speak for all
		run.Steering, run.Refutation, run.Missed = nil, "", ""
	}
	var parts []string
	switch {
	case at.IsLast():
		parts = c.rulesFor(run)
	case !c.isQuiet():
		parts = append(parts, fmt.Sprintf("You work in a Ralph loop: agents are given the same task again and again, each "+
			"knowing nothing of the runs before but what it finds in the files here. "+
			"This is iteration %d, and you are an agent in %s. Those of the next step are given your last message, and nothing "+
			"else that you say: put into it all that they have to know. "+
			"You can't end the loop: never say that all is done.", run.Iteration, at))
	}
	if run.Task != "" {
		parts = append(parts, run.Task)
	}
	switch {
	case run.Dir != "":
		parts = append(parts, rules.Checkout(run.Dir))
	case !at.Alone && !c.isQuiet():
		parts = append(parts, "Other agents work in the same folder at the same time.")
	}
	if c.Roles.HatsEmit() {
		parts = append(parts, c.roleOf(run.Turn, run.Emit))
		return c.Pass(run, append(parts, saidTo(run)...))
	}
	if w.ReadOnly {
		parts = append(parts, "Change nothing: read, and run at most what changes no file.")
	}
	if text := strings.TrimSpace(w.Instructions); text != "" {
		parts = append(parts, fmt.Sprintf("You are %s. What you are to do:", at.Name), text)
	}
	return c.Pass(run, append(parts, saidTo(run)...))
}
