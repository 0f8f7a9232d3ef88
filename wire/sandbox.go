package wire

import (
	"regexp"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// sandboxed says of a loop that there are walls around its agents.
const sandboxed = "sandboxed"

func sandboxText(engine string) string {
	if engine == "" {
		return ""
	}
	return sandboxed
}

// SandboxText says which sandbox a start would set up: "workspace, by bubblewrap; the network is on,
// off for the verification; may write ~/.cache/go-build".
func SandboxText(s sandbox.Spec) string {
	if !s.IsOn() {
		return "none: the agent may write and read what you may"
	}
	text := s.Mode + ", by " + s.EngineOf()
	on := map[bool]string{true: "on", false: "off"}
	text += "; the network is " + on[s.Network]
	switch {
	case len(s.Hosts) > 0:
		text += " for " + strings.Join(s.Hosts, ", ")
	case s.VerifyNetwork != s.Network:
		text += ", " + on[s.VerifyNetwork] + " for the verification"
	}
	for _, more := range []struct {
		words string
		of    []string
	}{{"may write ", s.Write}, {"may read ", s.Read}, {"hidden ", s.Hide}, {"protected ", s.Protect}, {"passes ", s.Env}} {
		if len(more.of) > 0 {
			text += "; " + more.words + strings.Join(more.of, ", ")
		}
	}
	return Sentence(text)
}

// sandboxRow is a table's text of a loop's sandbox.
func sandboxRow(engine string) string {
	if engine == "" {
		return ""
	}
	return sandboxed + " by " + OneLine(engine) + ": the agent writes the folder and what is its own, and sees no keys"
}

// ourDocs are the words that name a file of our documentation.
var ourDocs = regexp.MustCompile(` \(see docs/\w+\.md\)|, see docs/\w+\.md`)

// withoutDocs is a text for an editor, whose folder has no docs of ours.
func withoutDocs(text string) string { return ourDocs.ReplaceAllString(text, "") }

// classOfWarning returns the class of a warning: an offer, where nobody has done anything wrong, is info.
func classOfWarning(e loop.Warning) Class {
	if e.Offer.Sandbox {
		return ClassInfo
	}
	return ClassWarning
}

// SandboxParams is the argument of ralph.sandbox.
type SandboxParams struct {
	Mode string `json:"mode"` // workspace or off
}
