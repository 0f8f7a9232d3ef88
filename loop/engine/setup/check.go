package setup

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Check looks at what can be wrong before anything is touched.
func (c *Config) Check() error {
	if err := c.Budget.Check(); err != nil {
		return err
	}
	if err := c.Roles.check(); err != nil || c.Continue {
		return err // the state file says the rest
	}
	if strings.TrimSpace(c.Prompt) == "" {
		return loop.ErrEmptyPrompt
	}
	if err := CheckPromise(c.Promise); err != nil {
		return err
	}
	if err := errors.Join(c.Limits.Check(), c.Verification.Check.Validate()); err != nil {
		return err
	}
	if err := cmp.Or(c.CheckReading(), c.FindAgents(), c.checkNotes()); err != nil {
		return err
	}
	return cmp.Or(c.FindCheck(), c.FindReviewer(), c.checkPlan(), c.checkWorkers())
}

// checkNotes says why the loop can't have its notes where they are to be.
func (c *Config) checkNotes() error {
	switch name := filepath.ToSlash(filepath.Clean(c.Values.Notes)); {
	case c.Values.Notes == "":
		return nil
	case !filepath.IsLocal(name) || name == ".":
		return fmt.Errorf("the notes %q aren't a file in the folder; name one there, such as notes.md", c.Values.Notes)
	case c.Sandbox.IsOn() && strings.HasPrefix(name, ".pi/"):
		return fmt.Errorf("behind walls no run writes the notes %s, as .pi is read-only there; name another file, such as notes.md", name)
	}
	return nil
}

// FindCheck looks for the programs of the check.
func (c *Config) FindCheck() error {
	if c.SetUp {
		return nil
	}
	_, err := c.Verification.Check.Find(c.Folder)
	return err
}

// FindReviewer looks for the reviewer's program, where there is to be one.
func (c *Config) FindReviewer() (err error) {
	if c.Verification.Check.Has(verify.ReviewerGate) {
		_, err = c.Verification.Reviewer.Backend.Find()
	}
	return err
}

// CheckPromise says why a text can't be a completion promise.
func CheckPromise(promise string) error {
	if why := promises.CheckPromise(promise); why != "" {
		return errors.New("the completion promise " + why)
	}
	return nil
}
