package setup

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limited"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// Fallback is an agent that works while the loop's own is limited.
type Fallback struct {
	Role
	Model string   // "" leaves the choice to the agent
	On    []string // what it stands in for: settings.OnRateLimit and others; nil: anything
}

// HatSet is the hats of a loop that hand over; nil where none do.
func (r Roles) HatSet() hats.Set {
	set := make(hats.Set, len(r.Hats))
	for i, one := range r.Hats {
		set[i] = one.Hat
	}
	if !set.Emits() {
		return nil
	}
	return set
}

// HatsEmit says whether the loop's hats hand work over to each other.
func (r Roles) HatsEmit() bool { return r.HatSet() != nil }

// CheckReading says which hat is to read only where nothing tells what it changes.
func (c Config) CheckReading() error {
	for _, r := range c.Roles.Hats {
		if r.ReadOnly && c.Storage.Changes.Keep == 0 {
			return fmt.Errorf("the hat %s is read_only, and nobody would see what it changes: there are no snapshots "+
				"(changes.keep is 0); set one of them otherwise", r.Name)
		}
	}
	return nil
}

// Role is another agent: its instructions, and the backend that runs it. It listens to topics (Roles.Hats), works in
// a step (Roles.Steps), or reviews (Verification.Reviewer).
type Role struct {
	hats.Hat
	// Task is what one of a step is asked. {prompt} in it is the loop's prompt, {previous} what the
	// step before came to; nothing in what they stand for is taken for one of them again.
	Task    string
	Backend backends.Backend
	Args    []string // its own (model, tools), then the user's
}

// Mark tells a role from another one by what is run for it. Whether it can be talked to doesn't count.
func (r Role) Mark() string {
	b := r.Backend.Silent()
	mark, _ := json.Marshal([]any{b.Name, b.Command, b.Args, b.Prompt, b.Output, r.Args, r.Instructions}) // texts can always be encoded
	return string(mark)
}

// Others are the loop's roles, each with its name in a sentence.
func (c *Config) Others() iter.Seq2[string, *Role] {
	return func(yield func(string, *Role) bool) {
		for i := range c.Roles.Hats {
			if !yield("the hat "+c.Roles.Hats[i].Name, &c.Roles.Hats[i]) {
				return
			}
		}
		for i, step := range c.Roles.Steps {
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
		if c.Verification.Check.Has(verify.ReviewerGate) {
			yield("the reviewer "+c.Verification.Check.Reviewer, &c.Verification.Reviewer)
		}
	}
}

// As is the configuration of a run by a role. Another agent has other models.
func (c Config) As(r Role) Config {
	if r.Backend.Name != c.Backend.Name {
		c.Model = ""
	}
	c.Backend, c.Args, c.Hat = r.Backend, r.Args, r.Name
	return c
}

// Named is the one of those that listen, or of the loop's own, with a name.
func (r Roles) Named(name string) (Role, bool) {
	for _, one := range r.Hats {
		if one.Name == name {
			return one, true
		}
	}
	return Role{}, false
}

// WithHat is the configuration of a run under a hat; "" is none.
func (c Config) WithHat(hat string) Config {
	if r, ok := c.Roles.Named(hat); ok {
		return c.As(r)
	}
	return c
}

// FindAgents says which agent isn't installed that a run may need.
func (c *Config) FindAgents() error {
	if len(c.Roles.Steps) == 0 {
		if _, err := c.Backend.Find(); err != nil {
			return err
		}
	}
	for who, r := range c.Others() {
		if _, err := r.Backend.Find(); err != nil && r != &c.Verification.Reviewer {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	return nil
}

// FallbackText says which agent works from now on, by the number of the fallback that stands in until a time; 0 is the
// loop's own.
func (c Config) FallbackText(who int, until time.Time) string {
	own := filepath.Base(c.Backend.Name)
	if who == 0 {
		return own + " works again"
	}
	f := c.Fallbacks[who-1]
	text := filepath.Base(f.Backend.Name)
	if f.Model != "" {
		text += " with " + f.Model
	}
	return fmt.Sprintf("%s works until %s: %s is limited until then", text, until.Format(time.TimeOnly), own)
}

// Account names the account that the loop's agent asks.
func (c Config) Account() string {
	return limited.Account(slices.Concat(os.Environ(), c.Backend.Env),
		append([]string{c.Backend.Name, c.Backend.Command, c.Model}, c.Args...)...)
}
