package setup

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// Instruct puts rules and guidance where the backend takes them: beside the
// prompt, which so stays byte for byte what the user wrote, or else behind it.
func (c Config) Instruct(run Run) (prompt string, args []string) {
	parts := c.rulesFor(run)
	if run.Task != "" {
		parts = append(parts, run.Task)
	}
	if role := c.roleOf(run.Turn, run.Emit); role != "" {
		parts = append(parts, role)
	}
	return c.Pass(run, append(parts, saidTo(run)...))
}

// rulesFor are the rules of the loop, for an agent that can end it.
func (c Config) rulesFor(run Run) (parts []string) {
	if c.isQuiet() {
		return nil
	}
	parts = append(parts, rules.Of(run.Iteration, run.Limits))
	done := "no task is open"
	if run.Task == "" {
		done = "you say that you are done"
		parts = append(parts, rules.Ending(run.Promise, c.Backend.Output == decode.FormatText))
	}
	if rule := rules.OfCheck(c.Verification.Check, done); rule != "" {
		parts = append(parts, rule)
	}
	if run.Stagnation != "" {
		parts = append(parts, run.Stagnation)
	}
	return parts
}

// saidTo is what a run is told because of those before it.
func saidTo(run Run) (parts []string) {
	for _, said := range []string{run.Notes, run.Missed, run.Refutation} {
		if said != "" {
			parts = append(parts, said)
		}
	}
	if said := slices.Concat(run.Standing, run.Steering); len(said) > 0 {
		parts = append(parts, rules.Steering(said))
	}
	return parts
}

// Pass puts what an agent is told where its backend takes it.
func (c Config) Pass(run Run, parts []string) (prompt string, args []string) {
	prompt = run.Prompt
	b := c.Backend
	if text := strings.Join(parts, "\n\n"); text != "" {
		if b.HasSystemPrompt(c.Args) && len(text) <= backends.MaxArg {
			args = append(args, b.SystemPromptFlag, text)
		} else {
			prompt += "\n\n" + text
		}
	}
	if b.ModelFlag != "" && c.Model != "" {
		args = append(args, b.ModelFlag, c.Model)
	}
	if b.BudgetFlag != "" && !math.IsInf(run.Budget, 1) {
		args = append(args, b.BudgetFlag, strconv.FormatFloat(run.Budget, 'f', -1, 64))
	}
	return prompt, args
}

// DryRun tells what the first iteration would be started with: the program of the first
// agent with its arguments, and the prompt. Nothing is started or written.
func (c Config) DryRun() (argv []string, prompt string, err error) {
	if err := c.Check(); err != nil {
		return nil, "", err
	}
	var turn hats.Turn
	if ring := c.Roles.HatSet(); ring != nil {
		queue := hats.NewQueue()
		turn, _, _ = ring.Next(&queue)
		c = c.WithHat(turn.Hat.Name)
	} else {
		own, _ := c.Roles.Named(c.Hat)
		turn.Hat, c = own.Hat, c.WithHat(c.Hat)
	}
	first := Run{
		Turn: turn, Iteration: 1, Prompt: c.Prompt, Promise: c.Promise, Limits: c.Limits, Budget: c.Limits.MaxCostUSD,
	}
	if first.Budget == 0 {
		first.Budget = math.Inf(1)
	}
	if spent, err := c.Budget.Spent(time.Now()); err == nil {
		first.Budget = min(first.Budget, c.Budget.Limits.Left(spent))
	}
	brief := c.Instruct
	if len(c.Roles.Steps) > 0 {
		w, at := c.Roles.Steps[0][0], c.Roles.Slots(0)[0]
		first.Prompt = w.TaskOf(at, c.Prompt, "")
		c = c.As(w)
		brief = func(run Run) (string, []string) { return c.InstructStep(w, at, run) }
	}
	program, err := c.Backend.Find()
	if err != nil {
		return nil, "", err
	}
	prompt, ours := brief(first)
	return append([]string{program}, c.Backend.Argv(ours, c.Args)...), prompt, nil
}
