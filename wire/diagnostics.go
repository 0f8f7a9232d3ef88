package wire

import "encoding/json"

// MethodDiagnostics asks a client that said so for what its language servers know
// of files. Without paths it is answered at once.
const MethodDiagnostics = "ralph/diagnostics"

// DiagnosticsParams are the params of MethodDiagnostics.
type DiagnosticsParams struct {
	Folder string   `json:"folder"`
	Paths  []string `json:"paths"` // relative to the folder, with slashes
}

// DiagnosticsResult is the answer to MethodDiagnostics.
type DiagnosticsResult struct {
	Settled     bool         `json:"settled"`           // the language servers are done with all that was asked of
	Diagnostics []Diagnostic `json:"diagnostics"`       // of the folder's files, whichever they are
	Seen        []string     `json:"seen"`              // URIs of files that a language server has looked at, as they are on the disk
	Busy        []string     `json:"busy,omitempty"`    // that one isn't done with
	Unsaved     []string     `json:"unsaved,omitempty"` // whose text in the editor isn't that on the disk
}

// Diagnostic is one of LSP's, with the file that it is of.
type Diagnostic struct {
	URI      string          `json:"uri"`
	Range    Range           `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code,omitempty"` // a text or a number
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

// Range is one of LSP's.
type Range struct {
	Start Point `json:"start"`
	End   Point `json:"end"`
}

// Point is a Position of LSP: 0 is the first.
type Point struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}
