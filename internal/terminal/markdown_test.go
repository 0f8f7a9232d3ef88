package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"paragraphs", "One\ntwo.\n\nThree.", "One two.\n\nThree."},
		{"wrapped", strings.Repeat("word ", 9), "word word word word word word\nword word word"},
		{"a long word", "see https://example.org/a/very/long/path now", "see\nhttps://example.org/a/very/long/path\nnow"},
		{"touching styles", "**bold**, *italic*-ish", "bold, italic-ish"},
		{"code", "run `go  test`.", "run `go test`."},
		{"headings", "# One\n\n### Three", "# One\n\n### Three"},
		{"list", "- a\n- b\n  - c", "• a\n• b\n  • c"},
		{"ordered list from 3", "3. a\n4. b", "3. a\n4. b"},
		{"loose list", "- a\n\n- b", "• a\n\n• b"},
		{"list item wraps under itself", "- " + strings.Repeat("word ", 7), "• word word word word word\n  word word"},
		{"task list", "- [x] done\n- [ ] open", "• [x] done\n• [ ] open"},
		{"fence is kept as it is", "```go\nif  x {\n\n\ty()\n}\n```", "    if  x {\n\n        y()\n    }"},
		{"quote", "> one\n> two", "│ one two"},
		{"rule", "a\n\n---", "a\n\n" + strings.Repeat("─", 30)},
		{"table", "| a | bb |\n|---|---|\n| 1 | 2 |", "a │ bb\n──┼───\n1 │ 2"},
		{"table without outer bars", "a | b\n-|:-:\n1 | 2", "a │ b\n──┼──\n1 │ 2"},
		{"table below text", "text\n| a |\n|--:|\n| 1 |", "text\n\na\n─\n1"},
		{"table with ragged rows", "|a|b|\n|-|-|\n|1|\n|1|2|3|", "a │ b\n──┼──\n1 │\n1 │ 2"},
		{"table with styles", "| `a` | **b** |\n|-|-|\n| x\\|y | |", "`a` │ b\n────┼──\nx|y │"},
		{"table with an empty cell", "|a||\n|-|-|\n||2|", "a │\n──┼──\n  │ 2"},
		{"no table: another number of columns", "|a|b|\n|-|\n", "|a|b| |-|"},
		{"no table: no bar", "a\n-x-", "a -x-"},
		{"struck through", "~~old~~ new", "~~old~~ new"},
		{"link", "[docs](https://go.dev)", "docs (https://go.dev)"},
		{"bare link", "<https://go.dev>", "https://go.dev"},
		{"hard break", "a  \nb", "a\nb"},
		{"promise alone", "<promise>DONE</promise>", "<promise>DONE</promise>"},
		{"promise in text", "Done. <promise>ALL `x` DONE</promise>", "Done. <promise>ALL `x`\nDONE</promise>"},
		{"html block", "<div>\nx\n</div>", "<div>\nx\n</div>"},
		{"entities", "a &lt; b &amp;&amp; c \\*", "a < b && c *"},
		{"an entity that spells a control character", "a&#27;[31mb", "a[31mb"},
		{"nothing", "", ""},
	}
	md := NewMarkdown(Palette{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(md.Render(tt.in, 30), "\n"); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestMarkdownInColour(t *testing.T) {
	md := NewMarkdown(Palette{On: true})
	got := md.Render("run **go test** with `-race`", 60)
	want := []string{"run \x1b[1mgo test\x1b[0m with \x1b[36m-race\x1b[0m"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = md.Render("see **all the tests of the parser** now", 20)
	want = []string{"see \x1b[1mall the tests of\x1b[0m", "\x1b[1mthe parser\x1b[0m now"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever the agent writes, no line is lost and nothing but our own colour
// codes reaches the terminal.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"# a\n\n- b\n", "```\nx\n", "| a |\n|-|\n", "[a](b)", "> > x", "&#27;[0m", "1. a\n\n   b\n", "~~x~~ **y", "<b\n"} {
		f.Add(seed)
	}
	md := NewMarkdown(Palette{})
	f.Fuzz(func(t *testing.T, source string) {
		if strings.ContainsAny(source, "\x1b") {
			return // render's callers make it plain first
		}
		for _, line := range md.Render(source, 40) {
			if strings.ContainsAny(line, "\x1b\n") {
				t.Fatalf("line %q of %q", line, source)
			}
		}
	})
}

func TestBlocksAreCompleteBeforeTheyAreShown(t *testing.T) {
	tests := []struct {
		name   string
		deltas []string
		want   []string
		rest   string
	}{
		{"a blank line ends a block", []string{"a\nb\n", "\nc"}, []string{"a\nb"}, "c"},
		{"the blank line comes in pieces", []string{"a", "\n", "\n", "b\n\n"}, []string{"a", "b"}, ""},
		{"a blank line in a fence doesn't", []string{"```\na\n\nb\n```\n\nc"}, []string{"```\na\n\nb\n```"}, "c"},
		{"a longer fence holds a shorter one", []string{"````\n```\n\n```\n````\n\nc"}, []string{"````\n```\n\n```\n````"}, "c"},
		{"tildes", []string{"~~~\n```\n\n~~~\n\n"}, []string{"~~~\n```\n\n~~~"}, ""},
		{"blank lines alone are nothing", []string{"\n\n  \n"}, nil, ""},
		{"no end of line at the end", []string{"a"}, nil, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b blockBuffer
			var got []string
			for _, delta := range tt.deltas {
				got = append(got, b.add(delta)...)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("blocks: got %q, want %q", got, tt.want)
			}
			if rest := b.flush(); rest != tt.rest {
				t.Errorf("rest: got %q, want %q", rest, tt.rest)
			}
		})
	}
}

func TestAnEndlessBlockIsShownInParts(t *testing.T) {
	var b blockBuffer
	shown := 0
	for range 100 {
		for _, block := range b.add(strings.Repeat("x", 2000)) {
			shown += len(block)
		}
	}
	if rest := len(b.flush()); shown == 0 || rest > maxBlock || shown+rest != 200_000 {
		t.Errorf("shown %d bytes, %d wait", shown, rest)
	}
}
