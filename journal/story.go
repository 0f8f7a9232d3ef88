package journal

import "context"

// Story is what a loop did: its journal, or its session file.
type Story interface {
	// Read returns what comes behind a cursor.
	Read(ctx context.Context, after string, o Options) (Page, error)
	// Outline is what there is to know of all of it.
	Outline(ctx context.Context) (Outline, error)
}

// StoryOf is the journal of a loop, or else its session file, for who reads one.
func StoryOf(loopID, sessionFile string) Story { return new(Sessions).Story(loopID, sessionFile) }
