package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// PlanPrompt is the prompt of a loop that has a plan and no other prompt.
func PlanPrompt(name string) string {
	return "Work through the plan in " + name + ": one task at a time, each done well and checked before the next one begins."
}

// PlanGoal says what of a loop's plan has to be done, and what its checks run; "" without a plan.
func (c Config) PlanGoal() string {
	p, err := c.ReadPlan()
	if c.Values.Plan == "" || err != nil {
		return ""
	}
	goal := fmt.Sprintf("the %s of %s are done", format.Counted(len(p.Tasks()), "task"), p.Name)
	if one := p.Chosen(); len(one) == 1 {
		goal = fmt.Sprintf("the task %q of %s is done", one[0].Text, p.Name)
	}
	if commands := p.Commands(); len(commands) > 0 {
		goal += " (checks: " + strings.Join(commands, "; ") + ")"
	}
	return goal
}

// ReadPlan reads the loop's plan, as far as the loop is to do it.
func (c Config) ReadPlan() (plan.Plan, error) {
	p, err := ReadPlan(c.Folder, c.Values.Plan)
	if err != nil {
		return p, err
	}
	return p.Only(c.Values.Task)
}

// PlanPath is where in a folder a plan is, from the folder on.
func PlanPath(folder, name string) (string, error) {
	path := filepath.FromSlash(name)
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) {
		path = rel
	}
	if !filepath.IsLocal(path) {
		return "", fmt.Errorf("the plan %s isn't in the loop's folder, %s; name one that is", name, folder)
	}
	return path, nil
}

// ReadPlan reads the plan of a loop in a folder. Links don't lead out of it.
func ReadPlan(folder, name string) (plan.Plan, error) {
	path, data, err := ReadTasks(folder, name)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Parse(path, data)
}

// ReadTasks reads a file as ReadPlan does, in any format. The path is relative to the folder, with slashes.
func ReadTasks(folder, name string) (path string, data []byte, err error) {
	path, err = PlanPath(folder, name)
	if err != nil {
		return "", nil, err
	}
	root, err := regular.OpenRoot(folder)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	data, err = regular.ReadIn(root, path, plan.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("there is no plan %s in %s; ralph-lsp init --plan writes one to fill in", name, folder)
	case err != nil:
		return "", nil, fmt.Errorf("reading the plan: %w", paths.Outside(folder, path, err))
	}
	return filepath.ToSlash(path), data, nil
}

// WritePlan makes a plan's file what it is to be, unless somebody has changed it from what it was, where that is
// known. Only a box that is as long as before is written in its place, so that no half a file is ever there.
func WritePlan(folder string, was, want plan.Plan) error {
	if bytes.Equal(was.Data, want.Data) {
		return nil
	}
	root, err := regular.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(want.Name)
	now, err := regular.ReadIn(root, name, plan.MaxBytes)
	switch {
	case err == nil && was.Data != nil && !bytes.Equal(now, was.Data):
		return fmt.Errorf("%s was changed just now, so it is left as it is", want.Name)
	case errors.As(err, &regular.KindError{}): // an agent's: nobody loses anything by it
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return paths.Outside(folder, name, err)
	}
	if err == nil && len(now) == len(want.Data) {
		file, err := regular.OpenIn(root, name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		for i := range now {
			if now[i] != want.Data[i] {
				_, writeErr := file.WriteAt(want.Data[i:i+1], int64(i))
				err = errors.Join(err, writeErr)
			}
		}
		return errors.Join(err, file.Close())
	}
	mode := fs.FileMode(0o666)
	if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	for range 40 { // as many links as the system follows; a file is never put in the place of one
		target, err := root.Readlink(name)
		if err != nil {
			break
		}
		name = filepath.Join(filepath.Dir(name), target)
	}
	temp := name + ".ralph.tmp"
	_ = root.Remove(temp) // of one that was killed; a link there would be written through
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(want.Data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// checkPlan says what keeps a loop with a plan from beginning, and stores its commands: starting the loop accepts
// them.
func (c *Config) checkPlan() error {
	if c.Values.Plan == "" && c.Values.Task != "" {
		return errors.New("a task is one of a plan; name that with --plan FILE")
	} else if c.Values.Plan == "" {
		return nil
	}
	p, err := c.ReadPlan()
	if err != nil {
		return err
	}
	if _, ok := p.Next(); !ok {
		return fmt.Errorf("nothing can be done of the plan: %w", p.Why())
	}
	for _, it := range p.Agents() {
		if c.Roles.HatsEmit() || len(c.Roles.Steps) > 0 {
			return fmt.Errorf("%s:%d: (agent: %s): hats that hand over, and agents in steps, take turns by themselves", p.Name, it.Line, it.Agent)
		}
	}
	c.planned = p.Commands()
	if one := p.Chosen(); len(one) == 1 {
		c.Values.Task = p.NameOf(one[0]) // while the loop runs, its number may become another one's
	}
	return nil
}

// checkWorkers says why tasks can't be done side by side.
func (c *Config) checkWorkers() error {
	refuse := func(why, fix string) error {
		return fmt.Errorf("--workers %d: %s; %s, or leave --workers out", c.Values.Workers, why, fix)
	}
	switch {
	case c.Values.Workers < 2:
		return nil
	case c.Values.Plan == "":
		return refuse("workers do tasks of a plan, and there is none", "name one with --plan")
	case len(c.Roles.Steps) > 0 || c.Roles.HatsEmit():
		return refuse("hats that hand over, and agents in steps, take turns by themselves", "leave those out")
	case c.Storage.Changes.Keep == 0:
		return refuse("each works in a checkout of a snapshot, and there are none (changes.keep is 0)", "set changes.keep otherwise")
	}
	if err := changes.CanCheckOut(context.Background(), c.Folder, c.Storage.Changes); err != nil {
		return refuse("each works in a checkout, and "+err.Error(), "start in one (git init makes it)")
	}
	return nil
}
