package start

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
)

// NeedsPrompt says whether a start that gives no prompt has that of the settings: one with a plan has the plan's, unless
// the settings name a file.
func (o Options) NeedsPrompt(s config.Settings) bool {
	return o.Or(s.Loop).Plan == "" || s.Source("prompt_file") != config.FromDefault
}

// PlanPrompt is the prompt of a start that names a plan and gives none; "" without a plan.
func (o Options) PlanPrompt() string {
	if o.Values.Plan == "" {
		return ""
	}
	return setup.PlanPrompt(o.Values.Plan)
}

// PlanFile is the plan that a talk with an agent ends in, from the folder on.
func PlanFile(r Resolver) string {
	return cmp.Or(r.Start.Values.Plan, r.Settings.Loop.Plan, "PLAN.md")
}

// askForPlan is the prompt of a talk that ends in a plan.
func askForPlan(r Resolver, prompt string) (string, error) {
	folder := r.Settings.Files.Folder
	path, err := setup.PlanPath(folder, PlanFile(r))
	if err != nil {
		return "", err
	}
	write := "write it as tasks into " + filepath.ToSlash(path)
	if _, err := os.Lstat(filepath.Join(folder, path)); err == nil {
		write = "add it to the tasks that are in " + filepath.ToSlash(path) + " already; leave those as they are"
	}
	return cmp.Or(prompt, "Ask me what is to be done.") + "\n\nDon't do the work yet: we plan it. When we agree on it, " +
		write + ". A loop does them later, one at a time, each by an agent that knows nothing of this talk. " + plan.Format(path), nil
}

// planAgents adds the roles that the plan's tasks name. Of a plan that the start doesn't name, its user has to trust
// the commands first. A loop that somebody else began has its own agent do all.
func planAgents(ctx context.Context, r Resolver, c *team, cfg *setup.Config) error {
	if cfg.Values.Plan == "" || cfg.Stranger {
		return nil
	}
	folder := r.Settings.Files.Folder
	in := *cfg
	in.Folder = folder
	p, err := in.ReadPlan()
	if err != nil { // where the loop begins, there may be one
		return nil
	}
	if r.Start.Values.Plan == "" {
		c.planted = append(c.planted, checksOf(folder, p.Name, p.Commands())...)
	}
	own := slices.Concat(r.Editor.Agent.Args, r.Start.Agent.Args)
	set := agents.Read(folder)
	for _, it := range p.Agents() {
		if _, ok := cfg.Roles.Named(it.Agent); ok {
			continue
		}
		role, err := planRole(ctx, r, set, it.Agent, c, own)
		if err != nil {
			return fmt.Errorf("%s:%d: (agent: %s): %w", p.Name, it.Line, it.Agent, err)
		}
		cfg.Roles.Hats = append(cfg.Roles.Hats, role)
	}
	return nil
}

// PlanProblems is what keeps the tasks of a plan from being done in a folder with these settings, besides what the plan
// itself has to say: agents that nobody knows, and checks of a plan that the settings name and that aren't trusted.
func PlanProblems(s config.Settings, p plan.Plan) (problems []plan.Problem) {
	set := agents.Read(s.Files.Folder)
	var untrusted error
	if s.Loop.Plan == p.Name {
		untrusted = s.Files.CheckAgents(checksOf(s.Files.Folder, p.Name, p.Commands()))
	}
	for _, it := range p.Items {
		if _, isHat := s.Hats[it.Agent]; it.Agent != "" && !isHat {
			if _, _, err := set.Find(it.Agent, ""); err != nil {
				problems = append(problems, plan.Problem{Line: it.Line, Text: fmt.Sprintf("(agent: %s): %v", it.Agent, err)})
			}
		}
		if it.Verify != "" && untrusted != nil {
			problems = append(problems, plan.Problem{Line: it.Line, Text: fmt.Sprintf("you haven't accepted the command %q yet: a "+
				"start asks you, or ralph-lsp trust", it.Verify)})
		}
	}
	return problems
}

// checksOf are the commands of a folder's plan, as a user is asked about them; nothing when it has none.
func checksOf(folder, name string, commands []string) []config.Planted {
	if len(commands) == 0 {
		return nil
	}
	return []config.Planted{{
		File: filepath.Join(folder, filepath.FromSlash(name)), Data: []byte(strings.Join(commands, "\n")),
		Want: name + ": its checks run " + strings.Join(commands, "; "),
	}}
}

// planRole is the hat with a name, which listens to nothing, or the agent of a file.
func planRole(ctx context.Context, r Resolver, set agents.Set, name string, c *team, own []string) (role setup.Role, err error) {
	named, ok := r.Settings.Hats[name]
	if !ok {
		s, err := r.assign(ctx, set, config.StepAgent{Agent: name}, config.FromFolder, c)
		if err != nil {
			return role, err
		}
		return r.role(s, c.base, own)
	}
	on := c.base
	if named.Backend != "" || named.Command != "" {
		if on, err = r.catalog().wear(ctx, name, ""); err != nil {
			return role, err
		}
	}
	hat := named.Hat
	hat.Triggers, hat.Publishes = nil, nil
	return r.hatOn(hat, on, c.base, own)
}
