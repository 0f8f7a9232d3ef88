package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// brief puts rules and guidance where the backend takes them: beside the
// prompt, which so stays byte for byte what the user wrote, or else behind it.
func (c Config) brief(run plannedRun) (prompt string, args []string) {
	parts := c.rulesFor(run)
	if role := c.roleOf(run.turn, run.emit); role != "" {
		parts = append(parts, role)
	}
	return c.hand(run, append(parts, saidTo(run)...))
}

// rulesFor are the rules of the loop, for an agent that can end it.
func (c Config) rulesFor(run plannedRun) (parts []string) {
	if c.isQuiet() {
		return nil
	}
	parts = append(parts, rules.Of(run.iteration, run.limits, run.promise, c.Backend.Output == decode.FormatText))
	if rule := rules.OfCheck(c.Verify); rule != "" {
		parts = append(parts, rule)
	}
	if run.circles != "" {
		parts = append(parts, run.circles)
	}
	return parts
}

// saidTo is what a run is told because of those before it.
func saidTo(run plannedRun) (parts []string) {
	for _, said := range []string{run.missed, run.refutation} {
		if said != "" {
			parts = append(parts, said)
		}
	}
	if said := slices.Concat(run.standing, run.guidance); len(said) > 0 {
		parts = append(parts, rules.Guidance(said))
	}
	return parts
}

// hand puts what an agent is told where its backend takes it.
func (c Config) hand(run plannedRun, parts []string) (prompt string, args []string) {
	prompt = run.prompt
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
	if b.BudgetFlag != "" && !math.IsInf(run.budget, 1) {
		args = append(args, b.BudgetFlag, strconv.FormatFloat(run.budget, 'f', -1, 64))
	}
	return prompt, args
}

// DryRun tells what the first iteration would be started with: the program of the first
// agent with its arguments, and the prompt. Nothing is started or written.
func (c Config) DryRun() (argv []string, prompt string, err error) {
	if err := c.check(); err != nil {
		return nil, "", err
	}
	var turn hats.Turn
	if ring := c.ring(); ring != nil {
		queue := hats.NewQueue()
		turn, _, _ = ring.Next(&queue)
		c = c.worn(turn.Hat.Name)
	} else {
		own, _ := c.role(c.Hat)
		turn.Hat, c = own.Hat, c.worn(c.Hat)
	}
	first := plannedRun{
		turn: turn, iteration: 1, prompt: c.Prompt, promise: c.Promise, limits: c.Limits, budget: c.Limits.MaxCostUSD,
	}
	if first.budget == 0 {
		first.budget = math.Inf(1)
	}
	if spent, err := c.Budget.Spent(time.Now()); err == nil {
		first.budget = min(first.budget, c.Budget.Limits.Left(spent))
	}
	brief := c.brief
	if len(c.Steps) > 0 {
		w, at := c.Steps[0][0], c.places(0)[0]
		first.prompt = w.taskOf(at, c.Prompt, "")
		c = c.as(w)
		brief = func(run plannedRun) (string, []string) { return c.briefOf(w, at, run) }
	}
	program, err := c.Backend.Find()
	if err != nil {
		return nil, "", err
	}
	prompt, ours := brief(first)
	return append([]string{program}, c.Backend.Argv(ours, c.Args)...), prompt, nil
}
