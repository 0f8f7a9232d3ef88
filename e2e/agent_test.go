//go:build e2e

package e2e

import (
	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// agent is a real agent, and how a model calls its tools.
type agent struct {
	name    string
	pin     agents.Pin
	backend string   // its name for --backend
	args    []string // what it needs to reach the fake model
	anyTool []string // what lets it run any command without asking

	bashTool, writeTool, pathKey string
}

var (
	pi = agent{
		name: "pi", pin: agents.Pi, backend: "pi", args: agents.FakeModelArgs,
		bashTool: "bash", writeTool: "write", pathKey: "path",
	}
	pi073 = agent{
		name: "pi-0.73.1", pin: agents.Pi073, backend: "pi", args: agents.FakeModelArgs,
		bashTool: "bash", writeTool: "write", pathKey: "path",
	}
	claude = agent{
		name: "claude", pin: agents.Claude, backend: "claude", anyTool: []string{"--allowedTools=Bash"},
		bashTool: "Bash", writeTool: "Write", pathKey: "file_path",
	}

	both = []agent{pi, claude}
)

// bash is the model's call of a shell command.
func (a agent) bash(command string) fakemodel.Step {
	return fakemodel.Call(a.bashTool, map[string]string{"command": command})
}

// write is the model's call that writes a file.
func (a agent) write(path, content string) fakemodel.Step {
	return fakemodel.Call(a.writeTool, map[string]string{a.pathKey: path, "content": content})
}

// says is a turn of the model that ends the agent's run.
func says(text string) fakemodel.Turn { return fakemodel.Turn{Text: text} }

// does is a turn of the model that calls tools.
func does(steps ...fakemodel.Step) fakemodel.Turn { return fakemodel.Turn{Steps: steps} }

// anyToolArgs are arguments of "run" that let the agent run any command without asking.
func (a agent) anyToolArgs() (args []string) {
	for _, arg := range a.anyTool {
		args = append(args, "--backend-arg", arg)
	}
	return args
}
