//go:build !race

package top

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestAFlood(t *testing.T) {
	c := newTalk(t, 80, 24, running())
	s := c.tales["ralph-parser"]
	tellParser(s)
	c.looks()
	c.types(left, enter)
	read := func() string { return strings.Join(strings.Split(c.screen(), "\n")[:11], "\n") }
	before := read()
	var flood []any
	for i := range 3 * maxLines {
		flood = append(flood, fmt.Sprintf("flood %d", i))
	}
	s.tell(append(flood, stream.ToolCall{ID: "x", Name: "bash"})...)
	c.reads()
	if after := read(); after != before {
		t.Errorf("a flood moves what is read:\n%s\n%s", before, after)
	}
	c.types("G")
	c.has(fmt.Sprintf("flood %d", 3*maxLines-1))
	if n := c.m.story.rows(); n > maxLines+20 {
		t.Errorf("%d lines are kept", n)
	}
}

// BenchmarkPicture measures what it takes to draw a large screen in a flood.
func BenchmarkPicture(b *testing.B) {
	c := newTalk(b, 200, 50, running(), asking(), ended())
	tellParser(c.tales["ralph-parser"])
	c.looks()
	for i := range 100 {
		c.tales["ralph-parser"].tell(fmt.Sprintf("flood %d with some words behind it", i), "x")
	}
	c.reads()
	shown := c.m.palette.Fence()
	for b.Loop() {
		for _, row := range c.m.picture().rows {
			_ = shown(row)
		}
	}
}

// endless is a flood in which more always follows.
type endless struct {
	item journal.Item
	n    atomic.Int64 // bytes so far
}

func (f *endless) News() <-chan struct{} {
	more := make(chan struct{})
	close(more)
	return more
}

func (f *endless) Next(bool) (journal.Page, int64) {
	f.n.Add(int64(len(f.item.JSON)))
	return journal.Page{Items: []journal.Item{f.item}}, 1
}

// A flood that never pauses is shown in parts, and no less once more has come than is shown at first.
func TestAFloodWithoutAnEnd(t *testing.T) {
	s := new(tale)
	s.tell(strings.Repeat("all of this ", 1000))
	f := &endless{item: s.items[0]}
	source := source{
		story: func() journal.Story { return s }, width: 80,
		watch: func(context.Context, string) terminal.Story { return f },
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	shown := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		source.follow(ctx, func(msg message) {
			if _, isTold := msg.(toldMsg); isTold && f.n.Load() > 3*maxFirst {
				select {
				case shown <- struct{}{}:
				default:
				}
			}
		})
	}()
	<-shown
	<-shown
	leave()
	<-done
}
