package start

import (
	"path/filepath"
	"strings"

	"ralph-lsp/loopstate"
)

// PromptIn returns the prompt that a file holds: all of it, or what is behind
// the front matter of a state file, with the limits and the promise
// there. The error is a loopstate.SyntaxError.
func PromptIn(path, content string) (prompt string, says Options, err error) {
	if !strings.HasSuffix(filepath.ToSlash(path), "/"+loopstate.Name) {
		return content, says, nil
	}
	doc, err := loopstate.Parse([]byte(content))
	if err != nil {
		return "", says, err
	}
	state := doc.State()
	says.Limits.Given = state.Given
	if state.CompletionPromise != "" {
		says.Limits.Promise = &state.CompletionPromise
	}
	return state.Prompt, says, nil
}
