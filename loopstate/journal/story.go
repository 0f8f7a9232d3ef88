package journal

import (
	"context"
	"iter"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Story is what a loop did.
type Story interface {
	// Read returns what comes behind a cursor.
	Read(ctx context.Context, after string, o Options) (Page, error)
	// Outline is what there is to know of all of it.
	Outline(ctx context.Context) (wire.Outline, error)
}

// Pages reads a story from a cursor to its end. An error is the last.
func Pages(ctx context.Context, s Story, cursor string, o Options) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for more := true; more; {
			page, err := s.Read(ctx, cursor, o)
			cursor, more = page.Cursor, page.More && err == nil
			if !yield(page, err) {
				return
			}
		}
	}
}
