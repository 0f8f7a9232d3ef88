package reading

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Output writes all that a session keeps of what a tool gave into a file, for an
// editor to open.
func (rd *Reader) Output(ctx context.Context, p wire.OutputParams) (any, error) {
	if p.ToolCallID == "" {
		return nil, refusal.Invalid("toolCallId", "toolCallId is missing: say which call the output is of")
	}
	from, output, err := rd.outputOf(ctx, p)
	if err != nil {
		return nil, err
	}
	output = stream.Plain(output)
	name := fmt.Sprintf("output-%.8x.txt", sha256.Sum256(fmt.Append(nil, from, "\n", p.Iteration, "\n", p.ToolCallID)))
	path, err := writeOutput(name, output)
	if err != nil {
		return nil, err
	}
	if p.Show {
		if err := rd.ShowFile(ctx, path); err != nil {
			return nil, err
		}
	}
	return wire.OutputOf(path, output), nil
}

// outputOf finds what a tool gave, and says what it is from.
func (rd *Reader) outputOf(ctx context.Context, p wire.OutputParams) (name, output string, err error) {
	from, err := rd.logOf(ctx, wire.ReadParams{LoopParams: p.LoopParams, SessionFileURI: p.SessionFileURI})
	if err != nil {
		return "", "", err
	}
	if story, ok := from.Live.(remote.Story); ok {
		output, err = story.Output(ctx, p.Iteration, p.ToolCallID)
		return from.ID, output, err
	}
	var found bool
	if from.Path != "" {
		output, found, err = history.Output(from.Path, p.Iteration, p.ToolCallID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	if !found {
		why := fmt.Sprintf("the session has no output of the tool call %s in iteration %d", stream.Line(p.ToolCallID, wire.MaxTitle), p.Iteration)
		if from.Path == "" {
			why = "this loop keeps no history, so the whole output is gone"
		} else if from.Goes {
			why += " yet; it gets it when the agent goes on"
		}
		return "", "", refusal.Failed(wire.ReasonNoOutput, errors.New(why), nil)
	}
	return from.Path, output, nil
}

const (
	// maxOutputs are how many written outputs are kept, and keptFor how long: the sessions
	// have them anyway.
	maxOutputs = 100
	keptFor    = 7 * 24 * time.Hour
)

// writeOutput writes a file that only the user can read into the state folder, and
// removes those that nobody has asked for lately.
func writeOutput(name, text string) (path string, err error) {
	dir, err := paths.State("outputs")
	path = filepath.Join(dir, name)
	if err == nil {
		err = paths.WriteOwn(path, []byte(text), false)
	}
	if err != nil {
		return "", fmt.Errorf("writing the output: %w", err)
	}
	count := paths.Count{Bounds: paths.Bounds{Age: keptFor, Files: maxOutputs}}
	for _, f := range paths.Newest(dir, "*") {
		if count.Exceeded(f, time.Now()) {
			os.Remove(f.Path) // what can't be removed stays
		}
	}
	return path, nil
}
