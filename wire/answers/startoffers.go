package answers

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// OffersAtStart are the commands that start with what a start leaves open: the folder's own
// check, and the ways to let its agent run commands.
func OffersAtStart(check verify.Suggestion, permits []start.Permit, argument json.RawMessage) []wire.Command {
	given := map[string]any{}
	if json.Unmarshal(argument, &given) != nil {
		return nil
	}
	var offers []wire.Command
	offer := func(title string, with map[string]any) {
		all := maps.Clone(given)
		maps.Copy(all, with)
		offers = append(offers, wire.Command{Title: wire.OneLine(title), Command: wire.CommandStart, Arguments: []any{all}})
	}
	if check.Command != "" {
		offer("Verify with "+check.Command+" ("+check.File+")", map[string]any{"verify": check.Command})
	}
	for _, p := range permits {
		with := map[string]any{}
		said, _ := json.Marshal(p.Options.Values)
		_ = json.Unmarshal(said, &with)
		if len(p.Options.Agent.Args) > 0 {
			args, _ := given["args"].([]any)
			args = slices.Clone(args)
			for _, arg := range p.Options.Agent.Args {
				args = append(args, arg)
			}
			with["args"] = args
		}
		offer("Let it "+p.Title, with)
	}
	return offers
}
