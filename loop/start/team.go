package start

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// errTwoWays is why a start can't name who works in more than one way.
var errTwoWays = badValue("--hat, --agent, --chain and --parallel exclude each other; leave all but one out")

// Named are the steps of agents of markdown files that a start names: the only one, one after the other, or side by side.
func Named(agent string, chain, parallel []string) ([]config.Step, error) {
	switch {
	case agent != "" && len(chain)+len(parallel) > 0, len(chain) > 0 && len(parallel) > 0:
		return nil, errTwoWays
	case agent != "":
		chain = []string{agent}
	}
	return append(stepsOf(chain, false), stepsOf(parallel, true)...), nil
}

func stepsOf(names []string, isSideBySide bool) (steps []config.Step) {
	for i, name := range names {
		if i == 0 || !isSideBySide {
			steps = append(steps, nil)
		}
		last := &steps[len(steps)-1]
		*last = append(*last, config.StepAgent{Agent: name})
	}
	return steps
}

// agentFlag is a flag that names the agents of steps.
type agentFlag struct {
	to    *[]config.Step
	flag  string
	isSet bool // the last one counts
}

func (n *agentFlag) String() string { return "" }
func (n *agentFlag) Type() string   { return "NAMES" }
func (n *agentFlag) Set(text string) error {
	names := []string{text}
	if n.flag != "agent" {
		names = strings.Split(text, ",")
	}
	for i := range names {
		if names[i] = strings.TrimSpace(names[i]); names[i] == "" && n.flag != "agent" {
			return badValue("%q has a place without a name; write names as in scout,planner", text)
		}
	}
	switch {
	case text == "": // as if it weren't there
		return nil
	case *n.to != nil && !n.isSet:
		return errTwoWays
	}
	n.isSet, *n.to = true, stepsOf(names, n.flag == "parallel")
	return nil
}

// AgentFlags names the agents of steps as a command line does, and the backend that all of them run on, which may be "". So
// does a state file.
func AgentFlags(steps []config.Step, backend string) string {
	var words, names []string
	for _, step := range steps {
		for _, a := range step {
			names = append(names, a.Agent)
		}
	}
	if len(names) > 0 {
		flag := "--agent "
		if len(steps) > 1 {
			flag = "--chain "
		} else if len(names) > 1 {
			flag = "--parallel "
		}
		words = append(words, flag+format.Quoted(strings.Join(names, ",")))
	}
	if backend != "" {
		words = append(words, "--backend "+format.Quoted(backend))
	}
	return strings.Join(words, " ")
}

// parseAgentFlags reads what AgentFlags wrote.
func parseAgentFlags(flags string) (steps []config.Step, backend string, err error) {
	var o Options
	set := newFlagSet()
	AddFlags(set, &o, toName)
	words, err := shellWords(flags)
	if err == nil {
		err = set.Parse(words)
	}
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("%q is no flag", set.Arg(0))
	}
	return o.Steps, o.Agent.Name, err
}

// team is who does a loop's work.
type team struct {
	base     chosen         // the loop's own agent, or that of the one who has the last word
	args     []string       // all of its arguments
	roles    []setup.Role   // that listen, or the one that does all by itself
	steps    [][]setup.Role // that are called in a row
	from     config.Source  // who named agents of files; "" where no files do the work
	shown    setup.Agents
	planted  []config.Planted
	warnings []string
}

// files is a team of the agents that the start names, or else the files' steps; the zero value
// for neither. own are the user's arguments for the agent who has the last word.
func (r Resolver) files(ctx context.Context, own func(last chosen) []string) (c team, err error) {
	start := r.Start.Agent
	steps, from := r.Start.Steps, config.FromStart
	if steps != nil && start.Hat != "" {
		return c, errTwoWays
	} else if steps == nil && start.Hat == "" && r.Editor.Agent.Hat == "" {
		steps, from = r.Settings.Steps, r.Settings.Source("iteration.steps")
	}
	if len(steps) == 0 {
		return c, nil
	}
	c.shown.Flags = AgentFlags(r.Start.Steps, start.Name)
	set := agents.Read(r.Settings.Files.Folder)
	seats := make([][]assignment, len(steps))
	for i, step := range steps {
		if len(step) > limits.MaxAgents {
			return c, fmt.Errorf("%d agents can't work side by side, only %d", len(step), limits.MaxAgents)
		}
		for _, said := range step {
			s, err := r.assign(ctx, set, said, from, &c)
			if err != nil {
				return c, err
			}
			s.ReadOnly = len(step) > 1 && !said.Write
			seats[i] = append(seats[i], s)
		}
	}
	c.base, c.from = seats[len(seats)-1][0].chosen, from
	args := own(c.base)
	for i, step := range seats {
		var side []setup.Role
		for _, s := range step {
			role, err := r.role(s, c.base, args)
			if err != nil {
				return c, err
			}
			side = append(side, role)
			c.shown.About = append(c.shown.About, s.about(r.Settings.Files.Folder, i+1, len(seats)))
		}
		c.steps = append(c.steps, side)
	}
	if first := c.steps[0]; len(c.steps) == 1 && len(first) == 1 && first[0].Task == "" {
		c.steps, c.roles = nil, first
	}
	return c, nil
}

// assign finds an agent of a file. It runs on the backend that the start names, else on the one that its file is for.
func (r Resolver) assign(
	ctx context.Context, set agents.Set, said config.StepAgent, from config.Source, c *team,
) (s assignment, err error) {
	named := r.Start.Agent
	a, hidden, err := set.Find(said.Agent, named.Name)
	if err != nil {
		return s, err
	}
	if named.Name == "" {
		named.Name = a.Backend
	} else {
		from = config.FromStart
	}
	s = assignment{Hat: hats.Hat{Name: a.Name, Description: a.Description, Instructions: a.Instructions}, file: a, task: said.Task}
	if s.chosen, err = r.catalog().named(ctx, named, from); err != nil {
		return s, err
	}
	if a.IsFolder && !slices.ContainsFunc(c.planted, func(p config.Planted) bool { return p.File == a.File }) {
		c.planted = append(c.planted, Planted(r.Settings.Files.Folder, a))
	}
	if len(hidden) > 0 {
		c.warn("the agent %s is that of %s, not of %s", a.Name, fileIn(r.Settings.Files.Folder, a), strings.Join(hidden, ", "))
	}
	if len(a.Ignored) > 0 {
		c.warn("%s says %s, which a loop doesn't take over", fileIn(r.Settings.Files.Folder, a), strings.Join(a.Ignored, ", "))
	}
	return s, nil
}

func (c *team) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// about tells of an agent: "1 of 3: scout (pi) · tools read, bash · only reads · .pi/agents/scout.md".
func (s assignment) about(folder string, step, of int) string {
	text := fmt.Sprintf("%s (%s)", s.Name, filepath.Base(s.backend.Name)) + Facts(s.file)
	if of > 1 {
		text = fmt.Sprintf("%d of %d: ", step, of) + text
	}
	if s.ReadOnly {
		text += " · only reads"
		if args, err := s.backend.ReadOnlyArgs(nil); err == nil && len(args) == 0 {
			text += ", but only because it is told so"
		}
	}
	return text + " · " + fileIn(folder, s.file)
}

// Planted is the file of an agent that came with a folder, as its user is asked about it.
func Planted(folder string, a agents.Agent) config.Planted {
	want := fileIn(folder, a) + Facts(a) + " tells its agent: " + stream.Line(a.Instructions, len(a.Instructions))
	return config.Planted{File: a.File, Data: a.Data, Want: want}
}

// Facts are what a file says of its agent besides the prompt, each behind a dot.
func Facts(a agents.Agent) (text string) {
	for _, f := range []struct {
		name  string
		value string
		// a line may be cut
	}{{"permission mode ", a.Mode}, {"model ", a.Model}, {"tools ", strings.Join(a.Tools, ", ")}, {"without ", strings.Join(a.Denied, ", ")}} {
		if f.value != "" {
			text += " · " + f.name + f.value
		}
	}
	return text
}

// fileIn is an agent's file, in the folder by its path from there.
func fileIn(folder string, a agents.Agent) string {
	if rel, err := filepath.Rel(folder, a.File); err == nil && a.IsFolder {
		return filepath.ToSlash(rel)
	}
	return a.File
}

// setTeam puts the agents into a loop's configuration. The error names files that the user has to trust first; the
// configuration is whole all the same.
func (r Resolver) setTeam(ctx context.Context, c team, cfg *setup.Config) error {
	cfg.Backend, cfg.Hat, cfg.Args = c.base.backend, c.base.hat, c.args
	cfg.Roles.Steps, cfg.Roles.Hats, cfg.Roles.Agents = c.steps, c.roles, c.shown
	if c.from == "" {
		cfg.Roles.Required = r.Settings.Required
	} else if cfg.Roles.AtOnce = r.Settings.AtOnce; len(c.roles) > 0 {
		cfg.Hat = c.roles[0].Name
	}
	if err := planAgents(ctx, r, &c, cfg); err != nil {
		return err
	}
	if err := r.fallbacks(ctx, cfg); err != nil {
		return err
	}
	if err := r.talk(ctx, cfg); err != nil {
		return err
	}
	cfg.Warnings = append(cfg.Warnings, c.warnings...)
	return r.Settings.Files.CheckAgents(c.planted)
}
