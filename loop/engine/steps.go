package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	// MaxWorkers is how many agents a step may have.
	MaxWorkers = 8
	// maxAtOnce is how many of them work at the same time.
	maxAtOnce = 4
	// maxTask is how much of a task is shown, in bytes.
	maxTask = 2 << 10
)

// checkSteps says what is wrong with the steps of an iteration.
func (c Config) checkSteps() error {
	if len(c.Steps) > 0 && c.HandsOver() {
		return errors.New("hats that hand over and steps exclude each other: take out the hats' triggers, or the steps")
	}
	for i, step := range c.Steps {
		if len(step) == 0 || len(step) > MaxWorkers {
			return fmt.Errorf("step %d has %d agents: a step has 1 to %d", i+1, len(step), MaxWorkers)
		}
	}
	return nil
}

// stepPlace says which of an iteration's agents one is.
type stepPlace struct {
	step, of int    // from 1
	k        int    // among those of its step, from 1
	name     string // of the agent, with its number where the step has several of the name
	alone    bool   // nobody works beside it
}

func (p stepPlace) isLast() bool { return p.step == p.of }

// String names the agent in a sentence: "step 2 of 3 (planner)".
func (p stepPlace) String() string {
	if p.of == 1 {
		return p.name
	}
	return fmt.Sprintf("step %d of %d (%s)", p.step, p.of, p.name)
}

// places are those of a step's agents.
func (c Config) places(n int) []stepPlace {
	step := c.Steps[n]
	all := make([]stepPlace, len(step))
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
		all[k] = stepPlace{n + 1, len(c.Steps), k + 1, name, len(step) == 1}
	}
	return all
}

// Tasks of agents that are given none.
const (
	firstTask = "{prompt}"
	laterTask = "{prompt}\n\nWhat the step before this one came to:\n\n{previous}"
)

// taskOf is what an agent is asked, after what was put into it.
func (w Role) taskOf(at stepPlace, prompt, previous string) string {
	task := w.Task
	switch {
	case task == "" && at.step == 1:
		task = firstTask
	case task == "":
		task = laterTask
	}
	return strings.NewReplacer("{prompt}", prompt, "{previous}", previous).Replace(task) // which looks at no place twice
}

// callOf is the call under which an agent's work is shown. What the step before came to stands
// right above and isn't shown again, nor is a task that has nothing else.
func (w Role) callOf(at stepPlace, id, prompt string) stream.ToolCall {
	shown := stream.Plain(w.taskOf(at, prompt, "…"))
	if w.Task == "" && at.step > 1 || strings.TrimSpace(shown) == "…" {
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
	}{at.name, shown, at.step, at.of})
	return stream.ToolCall{ID: id, Name: stepCall, Input: input}
}

// briefOf is what an agent of a step is started with, see brief. run has its task as the prompt.
func (c Config) briefOf(w Role, at stepPlace, run plannedRun) (prompt string, args []string) {
	c = c.as(w)
	if at.step > 1 && !at.isLast() { // the first and the last speak for all
		run.guidance, run.refutation, run.missed = nil, "", ""
	}
	var parts []string
	switch {
	case at.isLast():
		parts = c.rulesFor(run)
	case !c.isQuiet():
		parts = append(parts, fmt.Sprintf("You work in a Ralph loop: agents are given the same task again and again, each knowing nothing of the runs before but what it finds in the files here. "+
			"This is iteration %d, and you are an agent in %s. Those of the next step are given your last message, and nothing else that you say: put into it all that they have to know. "+
			"You can't end the loop: never say that all is done.", run.iteration, at))
	}
	if !at.alone && !c.isQuiet() {
		parts = append(parts, "Other agents work in the same folder at the same time.")
	}
	if w.ReadOnly {
		parts = append(parts, "Change nothing: read, and run at most what changes no file.")
	}
	if text := strings.TrimSpace(w.Instructions); text != "" {
		parts = append(parts, fmt.Sprintf("You are %s. What you are to do:", at.name), text)
	}
	if role := c.roleOf(run.turn, ""); at.isLast() && role != "" {
		parts = append(parts, role)
	}
	return c.hand(run, append(parts, saidTo(run)...))
}

// joinSteps is what the agents of a step came to, for whoever comes behind them.
func joinSteps(places []stepPlace, texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for k, text := range texts {
		if k > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + places[k].name + "\n\n" + strings.TrimSpace(text))
	}
	return b.String()
}

// onlyReads says whether nobody of a step may change a file.
func onlyReads(step []Role) bool {
	return !slices.ContainsFunc(step, func(w Role) bool { return !w.ReadOnly })
}

// afterStep says how much the last step changed. That is the iteration's all the same.
func (s *snapshots) afterStep(iteration int) (files int) {
	if s.begun == nil || s.store == nil {
		return 0
	}
	taken, err := s.store.After(s.going, iteration)
	s.tell(taken, err)
	_ = s.store.Begin() // what is wrong, the next snapshot says
	if err != nil {
		return 0
	}
	s.between = s.between || taken.Files > 0
	return taken.Files
}

// tellOfReaders says that agents of a step changed files, although they were to read only.
func (s *snapshots) tellOfReaders(places []stepPlace, iteration int) {
	if n := s.afterStep(iteration); n > 0 {
		var names []string
		for _, at := range places {
			names = append(names, at.name)
		}
		who := places[0]
		who.name = strings.Join(names, ", ")
		verb := "is"
		if len(places) > 1 {
			verb = "are"
		}
		s.warn(fmt.Sprintf("%s changed while %s ran, which %s to read only", tell.Counted(n, "file"), who, verb))
	}
}
