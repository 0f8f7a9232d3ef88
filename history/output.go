package history

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Output returns all that a session keeps of what a tool gave in an iteration; 0 are
// those of a session without iterations. ok is false for a call without a result.
// The error is a *FormatError for a file that is no session.
func Output(ctx context.Context, path string, iteration int, callID string) (output string, ok bool, err error) {
	r, err := NewReader(path)
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	f := finder{iteration: iteration, callID: callID}
	for !f.found && r.Next(&f) {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
	}
	return f.output, f.found, r.Err()
}

// finder waits for the result of a call.
type finder struct {
	iteration, at int
	callID        string
	output        string
	found         bool
}

func (f *finder) Handle(e stream.Event) {
	if r, ok := e.(stream.ToolResult); ok && f.at == f.iteration && r.ID == f.callID && !f.found {
		f.output, f.found = r.Output, true
	}
}

func (f *finder) HandleRecord(r Record) {
	if begins, ok := r.(IterationStart); ok {
		f.at = begins.Iteration
	}
}
