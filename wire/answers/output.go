package answers

import (
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// OutputResult is all that is kept of what a tool gave: of more than 16 MiB the beginning and the end. The last 100 files
// are kept for a week.
type OutputResult struct {
	URI   string `json:"uri"` // of a file with it
	Bytes int    `json:"bytes"`
	Lines int    `json:"lines"`
	Text  string `json:"text"` // how much it is, in one line
}

// OutputOf says how much of an output is in a file.
func OutputOf(path, output string) OutputResult {
	r := OutputResult{URI: wire.FileURI(path), Bytes: len(output), Lines: format.Lines(output)}
	r.Text = wire.JoinFacts(format.Amount(r.Lines, "line"), format.Amount(r.Bytes, "byte"))
	if mark := format.LeftOutIn(output); mark != "" {
		r.Text += "; the session has no more: " + mark
	}
	return r
}

// FetchResult is where what a loop of another machine has done is now.
type FetchResult struct {
	Text   string     `json:"text"`
	Branch string     `json:"branch"` // in the repository of the loop's origin
	Class  wire.Class `json:"class"`
}

// Fetched says that a branch has what a loop did.
func Fetched(branch string) FetchResult {
	return FetchResult{"what it did is in the branch " + wire.OneLine(branch), branch, wire.ClassOK}
}

// SandboxModes are what the mode of a sandbox may be.
var SandboxModes = []string{sandbox.Workspace, sandbox.Off}

// SandboxResult says what counts for loops that start from now on.
type SandboxResult struct {
	FileURI string `json:"fileUri"` // of the user's configuration, which says it
	Text    string `json:"text"`    // one line
}

// SandboxResultOf says that a mode stands in a file now.
func SandboxResultOf(mode, file string) SandboxResult {
	text := "your loops are sandboxed from their next start on"
	if mode != sandbox.Workspace {
		text = "your loops have no sandbox from their next start on"
	}
	return SandboxResult{wire.FileURI(file), text + " (" + wire.OneLine(file) + ")"}
}
