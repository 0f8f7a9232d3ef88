package start

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Agent is what a start says of the agent.
type Agent struct {
	Name   string // a backend, Auto, or the path of a program
	Hat    string
	Output string // of a program of the user's own, as its format is called; "" is text
	Prompt string // the same, how it gets the prompt; "" is stdin
	Args   []string
	Model  string
}

// goOnAs lets a program of the user's own that a state file names speak as that says, where
// the user doesn't.
func (a *Agent) goOnAs(found Found) error {
	if a.Hat != "" || !IsPath(a.Name) {
		return nil
	}
	if path, err := filepath.Abs(a.Name); err != nil || path != found.Backend {
		return err
	}
	var err error
	speaks := func(key, text string, to *string, of []string) {
		if *to != "" || text == "" || err != nil {
			return
		}
		if why := (&Choice{To: to, Of: of}).Set(text); why != nil {
			err = fmt.Errorf("%s: %s: %w", found.File, key, why)
		}
	}
	speaks("backend_output", found.BackendOutput, &a.Output, formats())
	speaks("backend_prompt", found.BackendPrompt, &a.Prompt, prompts())
	return err
}

// IsPath says whether a backend is named by its program's path.
func IsPath(name string) bool { return strings.ContainsAny(name, `/\`) }

// program describes the program at the path that the agent's name is; the
// loop's folder may be another than the one that the path starts from.
func (a *Agent) program() (backends.Backend, error) {
	path, err := filepath.Abs(a.Name)
	if err != nil {
		return backends.Backend{}, fmt.Errorf("finding the program %s: %w", a.Name, err)
	}
	b := custom(path, nil, a.Prompt, a.Output)
	b.Name = path // the state file names it so, and it can be continued
	return b, nil
}

// checkProgramFlags refuses flags that only a program of the user's own takes.
func (a *Agent) checkProgramFlags() error {
	if !IsPath(a.Name) && (a.Output != "" || a.Prompt != "") {
		return errors.New("--backend-output and --backend-prompt go with a program of your own; name it with --backend ./PROGRAM")
	}
	return nil
}

// secretsIn warns of arguments that hold secrets. A loop that goes on needs them, so the state
// file has them.
func secretsIn(args []string) []string {
	masked := format.Masked(args)
	if slices.Equal(masked, args) {
		return nil
	}
	return []string{"the agent's arguments hold a secret (" + strings.Join(masked, " ") +
		"): they stand in the state file while the loop lasts, " +
		"and any process here may read them; the agent gets your environment, which is for keys"}
}
