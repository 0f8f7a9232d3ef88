package verify

import (
	"slices"
	"strings"
)

// Gate is one of what a promise has to pass.
type Gate string

// The gates.
const (
	CommandGate     Gate = "command"     // the command succeeds
	DiagnosticsGate Gate = "diagnostics" // an attached editor shows no new errors
	ProtectGate     Gate = "protect"     // the loop didn't change what is protected
	ReviewerGate    Gate = "reviewer"    // a hat has nothing against it
)

// Gates lists them in the order in which they are passed.
func Gates() []Gate { return []Gate{CommandGate, DiagnosticsGate, ProtectGate, ReviewerGate} }

// The values of Diagnostics; "" is DiagnosticsOff.
const (
	DiagnosticsOff   = "off"
	DiagnosticsNoNew = "no_new_errors"
)

// Has says whether the check has a gate.
func (c Check) Has(g Gate) bool {
	switch g {
	case CommandGate:
		return len(c.Command) > 0 || c.Shell != ""
	case DiagnosticsGate:
		return c.Diagnostics != "" && c.Diagnostics != DiagnosticsOff
	case ProtectGate:
		return len(c.Protect) > 0
	case ReviewerGate:
		return c.Reviewer != ""
	}
	return false
}

// Subject is a gate in the words that a Result's Why completes.
func (c Check) Subject(g Gate) string {
	switch g {
	case CommandGate:
		return c.String()
	case DiagnosticsGate:
		return "the editor's diagnostics"
	case ProtectGate:
		return "protected files"
	}
	return "the reviewer " + c.Reviewer
}

// Wants says what a gate wants of the loop's work: "go test ./... passes".
func (c Check) Wants(g Gate) string {
	switch g {
	case CommandGate:
		return c.String() + " passes"
	case DiagnosticsGate:
		return "the editor shows no new errors"
	case ProtectGate:
		return "no protected file was changed (" + strings.Join(c.Protect, ", ") + ")"
	}
	return "the reviewer " + c.Reviewer + " approves"
}

// Besides says what is wanted besides the command, "" for nothing.
func (c Check) Besides() string {
	var wants []string
	for _, g := range Gates() {
		if g != CommandGate && c.Has(g) {
			wants = append(wants, c.Wants(g))
		}
	}
	return strings.Join(wants, ", ")
}

// IsSet says whether there is anything to pass.
func (c Check) IsSet() bool { return slices.ContainsFunc(Gates(), c.Has) }
