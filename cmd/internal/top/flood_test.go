//go:build !race

package top

import (
	"fmt"
	"strings"
	"testing"

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
