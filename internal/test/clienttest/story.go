package clienttest

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Story is what a feed tells of a loop, of a journal of this process.
type Story struct {
	log  *journal.Log
	from *journal.Follower
}

// StoryOf is what is added to a journal from now on, of which a few bytes may wait.
func StoryOf(log *journal.Log, little int) Story { return Story{log, log.Follow(log.Begun(), little)} }

func (s Story) News() <-chan struct{} { return s.from.News }
func (s Story) Cursor() string        { return s.log.End() }

func (s Story) Waits() (size int, over bool) {
	waits, over := s.from.Waits()
	return int(waits), over
}

func (s Story) Read(o journal.Options) (page journal.Page, after string) {
	page, after, err := s.from.Next(context.Background(), o)
	if err != nil {
		panic(err)
	}
	return page, after
}
