package service

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func TestTheNewestPrompts(t *testing.T) {
	at := time.Now().UTC()
	loops := []registry.Entry{
		{Prompt: "a", StartedAt: at, Folder: "/old"}, {Prompt: "b", StartedAt: at.Add(1), Folder: "/w"}, {StartedAt: at.Add(3)},
		{Prompt: "a", StartedAt: at.Add(2), Folder: "/new"}, {Prompt: "c", StartedAt: at.Add(-1), Folder: "/w"},
		{Prompt: "a", StartedAt: at.Add(2), ChangedAt: at.Add(4), Folder: "/newest"},
	}
	want := []answers.PastPrompt{{Text: "a", Title: "a", At: at.Add(2), Folder: "file:///newest", Uses: 3}, {Text: "b", Title: "b", At: at.Add(1), Folder: "file:///w", Uses: 1}}
	if got := promptsOf(loops, 2); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := promptsOf(nil, 2); got == nil || len(got) > 0 { // a list on the wire
		t.Errorf("of none: %#v", got)
	}
}
