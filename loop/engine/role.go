package engine

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// Role is another agent: what it is told of itself, and what runs it. It listens to topics
// (Config.Roles), is called in a row (Config.Steps), or looks at the work (Config.Reviewer).
type Role struct {
	hats.Hat
	// Task is what one of a step is asked. {prompt} in it is the loop's prompt, {previous} what the
	// step before came to; nothing in what they stand for is taken for one of them again.
	Task    string
	Backend backends.Backend
	Args    []string // its own (model, tools), then the user's
}

// Mark tells a role from another one: what is run for it. Whether it can be talked to
// doesn't count.
func (r Role) Mark() string {
	b := r.Backend.Silent()
	mark, _ := json.Marshal([]any{b.Name, b.Command, b.Args, b.Prompt, b.Output, r.Args, r.Instructions}) // texts can always be encoded
	return string(mark)
}

// Others are the loop's roles, each with its name in a sentence.
func (c *Config) Others() iter.Seq2[string, *Role] {
	return func(yield func(string, *Role) bool) {
		for i := range c.Roles {
			if !yield("the hat "+c.Roles[i].Name, &c.Roles[i]) {
				return
			}
		}
		for i, step := range c.Steps {
			for k := range step {
				if !yield(fmt.Sprintf("step %d (%s)", i+1, step[k].Name), &step[k]) {
					return
				}
			}
		}
		for i := range c.Fallbacks {
			if f := &c.Fallbacks[i].Role; !yield("the fallback "+f.Backend.Name, f) {
				return
			}
		}
		if c.Verify.Has(verify.ReviewerGate) {
			yield("the reviewer "+c.Verify.Reviewer, &c.Reviewer)
		}
	}
}

// as is the configuration of a run by a role. Another agent has other models.
func (c Config) as(r Role) Config {
	if r.Backend.Name != c.Backend.Name {
		c.Model = ""
	}
	c.Backend, c.Args, c.Hat = r.Backend, r.Args, r.Name
	return c
}

// role is the one of those that listen, or of the loop's own, with a name.
func (c Config) role(name string) (Role, bool) {
	for _, r := range c.Roles {
		if r.Name == name {
			return r, true
		}
	}
	return Role{}, false
}

// worn is the configuration of a run under a hat; "" is none.
func (c Config) worn(hat string) Config {
	if r, ok := c.role(hat); ok {
		return c.as(r)
	}
	return c
}

// findAgents says which agent isn't installed that a run may need.
func (c *Config) findAgents() error {
	if len(c.Steps) == 0 {
		if _, err := c.Backend.Find(); err != nil {
			return err
		}
	}
	for who, r := range c.Others() {
		if _, err := r.Backend.Find(); err != nil && r != &c.Reviewer {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	return nil
}

// roleRun is one run of a role.
type roleRun struct {
	Role
	below  string // the call under which its work is shown; "": it is the iteration's own
	as     string // its name where it asks the user something; "": the loop's own
	record string // how the file of what it prints is called; "": it isn't kept
	backends.Spec
	watch func(Agent) backends.Exit // waits for its end
}

// play starts a role and returns when it is over. An error means that it could not be started.
func (l *runs) play(r roleRun) (exit backends.Exit, err error) {
	spec := r.Spec
	spec.Backend, spec.Args, spec.Dir, spec.Rest, spec.Ask = r.Role.Backend, r.Role.Args, l.cfg.Folder, l.rest, l.desk.For(r.below, r.as)
	if r.record != "" {
		file, err := l.recordFile(r.record)
		if err != nil {
			return exit, fmt.Errorf("recording: %w", err)
		}
		if file != nil {
			defer file.Close()
			spec.Record = file
		}
	}
	agent, err := l.start(spec)
	if err != nil {
		return exit, err
	}
	exit = r.watch(agent)
	l.desk.End(r.below) // nobody is left to hear the answer
	exit.Result.Denials = l.desk.WithoutDenied(exit.Result.Denials)
	return exit, nil
}
