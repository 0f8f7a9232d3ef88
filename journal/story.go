package journal

import (
	"context"
	"iter"
)

// Story is what a loop did: its journal, or its session file.
type Story interface {
	// Read returns what comes behind a cursor.
	Read(ctx context.Context, after string, o Options) (Page, error)
	// Outline is what there is to know of all of it.
	Outline(ctx context.Context) (Outline, error)
}

// StoryOf is the journal of a loop, or else its session file, for who reads one.
func StoryOf(loopID, sessionFile string) Story { return new(Sessions).Story(loopID, sessionFile) }

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
