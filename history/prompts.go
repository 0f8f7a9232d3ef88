package history

import (
	"slices"
	"time"
)

// Prompt is what loops were started with.
type Prompt struct {
	Text   string
	At     time.Time // of the last start
	Folder string    // of the last start
	Uses   int
}

const (
	// MaxPrompt is the longest prompt that is kept with a loop's begin, in bytes. Longer ones are in files.
	MaxPrompt = 64 << 10
	// promptLoops are how many loops Prompts looks at, from the newest on: there may be tens of thousands.
	promptLoops = 1000
)

// Prompts returns what the last loops of a working directory were started with. A
// folder that doesn't exist has none.
func Prompts(o Options, cwd string) ([]Prompt, error) {
	loops, err := List(o, cwd, promptLoops)
	var prompts []Prompt
	for _, l := range loops {
		prompts = append(prompts, Prompt{Text: l.Loop.Prompt, At: l.StartedAt, Folder: cwd, Uses: 1})
	}
	return Newest(prompts, len(prompts)), err
}

// Newest returns each prompt once, with all its uses, the newest first: at most limit. Empty
// prompts are left out.
func Newest(prompts []Prompt, limit int) []Prompt {
	slices.SortStableFunc(prompts, func(a, b Prompt) int { return b.At.Compare(a.At) })
	var newest []Prompt
	at := map[string]int{}
	for _, p := range prompts {
		i, known := at[p.Text]
		switch {
		case p.Text == "":
		case known:
			newest[i].Uses += p.Uses
		case len(newest) < limit:
			at[p.Text] = len(newest)
			newest = append(newest, p)
		}
	}
	return newest
}
