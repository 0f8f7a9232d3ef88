package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Prompt is what loops were started with.
type Prompt struct {
	Text   string
	At     time.Time // of the last start
	Folder string    // of the last start
	Uses   int
}

const (
	// MaxPrompt is the longest prompt that Prompts returns, in bytes. Longer ones are in files.
	MaxPrompt = 64 << 10
	// promptFiles are how many sessions Prompts looks at, from the newest on: there may be
	// tens of thousands.
	promptFiles = 1000
)

// Prompts returns what the last loops of a working directory were started with. A
// folder that doesn't exist has none.
func Prompts(o Options, cwd string) ([]Prompt, error) {
	real := paths.Real(cwd)
	dir, err := o.dir(real)
	if err != nil {
		return nil, err
	}
	names, err := sessionNames(dir)
	if err != nil {
		return nil, err
	}
	prompts := each(dir, names[:min(len(names), promptFiles)], func(path string, _ *[]byte) Prompt {
		p := promptIn(path, real)
		p.Folder = cwd
		return p
	})
	return Newest(prompts, len(prompts)), nil
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

// promptIn reads what the first iteration of a loop was given, from the beginning of
// its session. It is the zero value of one that is no loop's of the directory, or too
// long.
func promptIn(path, cwd string) (p Prompt) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return p
	}
	defer file.Close()
	lines := bufio.NewReader(io.LimitReader(file, maxHead))
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return p
		}
		if first {
			if head := readNode(line); head.kind != "session" || head.cwd != cwd {
				return p
			}
		} else if text, at, ok := inputIn(line); ok {
			if len(text) <= MaxPrompt {
				p = Prompt{Text: text, At: at, Uses: 1}
			}
			return p
		}
	}
}

// inputIn returns what the loop gave to an agent, if that is in a line.
func inputIn(line []byte) (text string, at time.Time, ok bool) {
	if !bytes.Contains(line, []byte(InputType)) {
		return "", at, false
	}
	var entry struct {
		CustomType string
		Timestamp  string
		Content    string
		Details    struct{ Kind InputKind }
	}
	if json.Unmarshal(line, &entry) != nil || entry.CustomType != InputType || entry.Details.Kind != InputCallback {
		return "", at, false
	}
	at, _ = time.Parse(time.RFC3339, entry.Timestamp) // the zero time for what is none
	return entry.Content, at, true
}
