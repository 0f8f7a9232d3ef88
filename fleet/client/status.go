package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// First are those of the loops that need their user most, and of these the newest: at most so many.
func First(all []fleet.Record, shown map[string]fleet.Shown, most int) []fleet.Record {
	ranks := make([]int, len(all))
	order := make([]int, len(all)) // a record is large: there may be 100,000
	for i, r := range all {
		ranks[i], order[i] = r.Rank(shown[r.ID]), i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), all[b].UpdatedAt.Compare(all[a].UpdatedAt), cmp.Compare(all[a].ID, all[b].ID))
	})
	first := make([]fleet.Record, min(len(all), most))
	for i := range first {
		first[i] = all[order[i]]
	}
	return first
}

// statusOf is a loop as the editor is told of it.
func (c *Client) statusOf(r fleet.Record, s fleet.Shown, away bool) wire.LoopStatus {
	folder := c.folder(r.ID)
	l := fleet.StatusOf(r, s, folder, time.Now())
	if r.Phase != fleet.Ended && loop.State(l.State).Over() { // its process is, and what came of it isn't on the bus yet
		l = fleet.StatusOf(r, fleet.Shown{}, folder, time.Now())
	}
	if l.Can == nil {
		l.Can = []string{}
	}
	l.Busy = r.Phase == fleet.Running
	if i := slices.Index(l.Can, wire.CanPause); l.Pausing && i >= 0 {
		l.Can[i] = wire.CanResume // that takes it back
	}
	if r.Phase == fleet.Ended && r.Committed > 0 {
		fetch := wire.Command{Title: "Fetch Its Branch", Command: wire.CommandFetch,
			Arguments: []any{wire.LoopParams{LoopID: r.ID, Folder: wire.FileURI(folder)}}}
		l.Can, l.Offers = append(l.Can, wire.CanFetch), append(l.Offers, fetch)
	}
	if away && r.Phase != fleet.Ended {
		l.Text, l.Line = wire.JoinFacts(l.Text, "the bus is away"), wire.JoinFacts(l.Line, "the bus is away")
	}
	return l
}

// maxWhy bounds why there is no bus, in bytes.
const maxWhy = 500

// mistakes makes one line of the mistakes of a file.
var mistakes = strings.NewReplacer(":\n", ":", "\n", ";")

// awayText says that there is no bus, and why.
func awayText(name string, why error, since time.Time) string {
	text := stream.Line(mistakes.Replace(why.Error()), maxWhy)
	switch {
	case errors.As(why, new(*Unset)):
		return "loops of the fleet aren't shown: " + text + "; once that is mended, they are"
	case since.IsZero():
		return fmt.Sprintf("the bus %s can't be reached: %s", name, text)
	}
	return fmt.Sprintf("the bus %s can't be reached since %s: %s", name, since.Local().Format("15:04"), text)
}

// textOf says what the list lacks, and that the bus is away.
func textOf(left map[string]int, name string, why error, since time.Time) string {
	var parts []string
	if why != nil {
		parts = append(parts, awayText(name, why, since))
	}
	var counts []string
	sum := 0
	for _, phase := range fleet.Phases {
		if n := left[string(phase)]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, phase))
			sum += n
		}
	}
	if sum > 0 {
		parts = append(parts, fmt.Sprintf("%s more on the bus: %s (ralph-fleet status)", format.Counted(sum, "loop"), strings.Join(counts, ", ")))
	}
	return strings.Join(parts, "; ")
}
