package server

import (
	"context"

	"ralph-lsp/loop/start"
)

// SlashResult answers a start whose text is a command and no start; a dry run
// only names it.
type SlashResult struct {
	Command string `json:"command"` // "/cancel-ralph" or "/ralph-help"
	*LoopResult
	*HelpResult
}

// typed reads what the user typed: the text, and a prompt or a selection that
// begins with a command. Such a one is taken out of the parameters.
func (p *StartParams) typed() (start.Request, error) {
	request, err := start.Parse(p.Text)
	if err != nil {
		return request, err
	}
	part := &p.Prompt
	if *part == "" {
		part = &p.Selection
	}
	if request.Slash != "" || request.Prompt != "" || start.SlashOf(*part) == "" {
		return request, nil
	}
	own, err := start.Parse(*part)
	own.Options = own.Options.Over(request.Options)
	*part = ""
	return own, err
}

// slash does what a text asks for that is a command and no start.
func (m *manager) slash(ctx context.Context, command start.Slash, p StartParams) (any, error) {
	result := SlashResult{Command: string(command)}
	switch {
	case p.DryRun:
	case command == start.SlashHelp:
		result.HelpResult = &HelpResult{helpText}
		if !m.ed.Client().OptedIn { // it shows its user no answers
			m.show(messageInfo, helpText)
		}
	default:
		answer, err := m.cancel(ctx, CancelParams{LoopParams: LoopParams{Folder: p.Folder}})
		if err != nil {
			return nil, err
		}
		ended := answer.(LoopResult)
		result.LoopResult = &ended
	}
	return result, nil
}
