package agents

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
)

// Orders say how an agent is to run, beside what its file says.
type Orders struct {
	ReadOnly bool // it gets no tool that changes anything, where its backend can be told so
	NoModel  bool // who starts it names the model
}

// Args are the arguments with which a backend runs the agent: its model and its tools. What the
// backend can't be told is an error.
func (a Agent) Args(on backends.Backend, o Orders) ([]string, error) {
	args, err := a.args(on, o)
	if err != nil {
		return nil, fmt.Errorf("the agent %s can't run on %s: %w (see %s)", a.Name, on.Name, err, a.File)
	}
	return args, nil
}

func (a Agent) args(on backends.Backend, o Orders) (args []string, err error) {
	home, err := backends.Lookup(a.Backend)
	if err != nil {
		return nil, err
	}
	tools, err := toolsOn(on, home, a.Tools)
	if err != nil {
		return nil, err
	}
	denied, err := toolsOn(on, home, a.Denied)
	if err != nil {
		return nil, err
	}
	switch {
	case o.ReadOnly:
		args, err = on.ReadOnlyArgs(tools)
	case tools != nil:
		args, err = on.ToolArgs(tools)
	}
	if err != nil {
		return nil, err
	}
	if len(denied) > 0 {
		if on.Tools.Deny == "" {
			return nil, errors.New("it can't be told which tools it doesn't have")
		}
		args = append(args, on.Tools.Deny, strings.Join(denied, ","))
	}
	if a.Mode != "" {
		if on.ModeFlag == "" || on.Name != home.Name {
			return nil, errors.New("it knows no permissionMode")
		}
		args = append(args, on.ModeFlag, a.Mode)
	}
	if a.Model == "" || o.NoModel {
		return args, nil
	}
	if on.ModelFlag == "" {
		return nil, errors.New("it can't be told its model")
	}
	if on.Name != home.Name {
		if why := on.CheckModel(a.Model, home.Name); why != "" {
			return nil, errors.New(why)
		}
	}
	return append(args, on.ModelFlag, a.Model), nil
}

// toolsOn are the names that a backend has for the tools of an agent's own.
func toolsOn(on, home backends.Backend, names []string) ([]string, error) {
	var own []string
	for _, name := range names {
		if on.Name == home.Name {
			plain, _, _ := strings.Cut(name, "(")
			if why := on.CheckTool(plain); why != "" {
				return nil, errors.New(why)
			}
		} else {
			var err error
			if name, err = on.Translate(name, home); err != nil {
				return nil, err
			}
		}
		own = append(own, name)
	}
	return own, nil
}
