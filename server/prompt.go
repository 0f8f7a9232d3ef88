package server

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// prompts reads prompts from documents and files.
type prompts struct{ docs session.OpenDocuments }

// configured returns what is in the configured prompt file, "" when
// there is none.
func (r prompts) configured(folder string, settings config.Settings) (string, error) {
	path, err := settings.PromptPath(folder)
	if err != nil {
		path = filepath.Join(folder, settings.PromptFile)
		return "", badPrompt(path, err)
	}
	prompt, _, err := r.at(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return prompt, err
}

// given returns the prompt that is given itself, or the one in a document
// with what that says of the loop.
func (r prompts) given(p wire.StartParams) (prompt string, says start.Options, err error) {
	if p.PromptURI == "" {
		return p.Prompt, says, nil
	}
	if p.Prompt != "" {
		return "", says, rpc.Errorf(rpc.CodeInvalidParams, "there are two prompts: give prompt or promptUri")
	}
	path, err := wire.PathOf(p.PromptURI)
	if err != nil {
		return "", says, refusal.Invalid("promptUri", "promptUri: %v", err)
	}
	prompt, says, err = r.at(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", says, refusal.Failed(wire.ReasonEmptyPrompt, fmt.Errorf("there is no file %s: save it first", path), nil)
	}
	return prompt, says, err
}

// at returns the prompt in a file, as the editor has it when it's open
// there, and what a state file says of its loop.
func (r prompts) at(path string) (prompt string, says start.Options, err error) {
	text, open := r.docs.OpenText(path)
	if !open {
		text, err = start.ReadText(path)
	}
	if err == nil {
		text, err = start.PromptText(path, []byte(text))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", says, err
	case err != nil:
		return "", says, badPrompt(path, err)
	}
	if prompt, says, err = start.PromptIn(path, text); err != nil {
		return "", says, err
	}
	if err := start.CheckFile(path, prompt); err != nil {
		return "", says, badPrompt(path, err)
	}
	return prompt, says, nil
}

// badPrompt is the error for a file that is there and can't be a prompt.
func badPrompt(path string, err error) error {
	return refusal.Failed(wire.ReasonBadPrompt, err, map[string]any{"fileUri": wire.FileURI(path)})
}
