package backends

import (
	"os"

	"ralph-lsp/stream"
)

func init() { known(70, opencode) }

// opencode asks for what its own configuration says it must ask for; without
// anybody to answer that is refused, and the run ends. Its stream tells costs.
var opencode = Backend{
	Name:              "opencode",
	Command:           "opencode",
	Args:              []string{"run", "--format", "json", "--thinking"},
	InteractivePrompt: "--prompt",
	May:               "may change files and run commands in the folder, unless its own settings say otherwise",
	Prompt:            PromptStdin,
	ArgPrompt:         EndOfOptions,
	Output:            stream.FormatOpencode,
	Transport:         TransportPipes,
	ModelFlag:         "--model",
	Env:               []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
	Stop:              []os.Signal{terminate},
	VersionArgs:       []string{"--version"},
	Install:           "npm install -g opencode-ai",
}
