package backends

import (
	"os"

	"ralph-lsp/stream"
)

func init() { known(80, pi) }

// pi is the agent of npm's @earendil-works/pi-coding-agent. It asks nothing,
// handles SIGTERM by ending its tools, and dies of SIGINT without doing so.
var pi = Backend{
	Name:              "pi",
	Command:           "pi",
	Args:              []string{"-p", "--mode", "json", "--no-session"},
	InteractiveArgs:   []string{"--no-session"},
	InteractivePrompt: Positional,
	May:               everything,
	Prompt:            PromptStdin,
	Output:            stream.FormatPi,
	Transport:         TransportPipes,
	ModelFlag:         "--model",
	SystemPromptFlag:  "--append-system-prompt",
	Env:               []string{"PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"},
	Kept:              []string{"node-compile-cache"}, // a third of its start; NODE_COMPILE_CACHE would reach its tools too
	Stop:              []os.Signal{terminate},
	VersionArgs:       []string{"--version"},
	Install:           "npm install -g @earendil-works/pi-coding-agent",
	Needs:             "node 22.19 or newer",
}
