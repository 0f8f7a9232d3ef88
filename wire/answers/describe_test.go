package answers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

func workOf(title string, changes ...worktree.Change) Work {
	return Work{wire.Receipt{LoopID: "ralph-a", End: wire.End{End: loop.End{Title: title}}, Rows: []wire.Detail{
		{Label: "Ended", Text: "2026-01-02 12:00:00"}, {Label: "Result", Text: "done: DONE after 2 iterations"},
		{Label: "Asked", Text: "Fix the parser"}, {Text: "and its tests"}, {Label: "Changed", Text: "9 files changed"},
		{Label: "Commits", Text: "1a2b3c4d5 One"}, {Text: "2b3c4d5e6 Two"}, {Label: "Goes on", Text: "no"},
	}}, changes}
}

func TestAPullRequestSaysWhatWasAskedAndDone(t *testing.T) {
	got := Describe(workOf("Fix the parser", worktree.Change{Path: "a.go", Added: 3, Removed: 1}, worktree.Change{Path: "b\xff", Binary: true}))
	const want = "Fix the parser\n\n> Fix the parser\n> and its tests\n\n- Result: `done: DONE after 2 iterations`\n- Commits: `1a2b3c4d5 One`\n- Commits: `2b3c4d5e6 Two`\n" +
		"- Changes: 2 files, +3 -1\n  - `a.go` +3 -1\n  - `\"b\\377\"` binary\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	none := Describe(Work{Receipt: wire.Receipt{LoopID: "ralph-a"}})
	if none.String() != "ralph-a\n\n\n- Changes: nothing changed\n" {
		t.Errorf("got %q", none)
	}
}

// A loop that an issue began closes it.
func TestAPullRequestClosesItsIssue(t *testing.T) {
	w := workOf("It's slow")
	w.Receipt.Prompt = history.Issue{Title: "It's slow", Source: "https://github.com/o/app/issues/12"}.Head() + "Others wrote it\n\n> # It's slow"
	if got := Describe(w); got.Title != "It's slow" || strings.Count(got.Body, "\nFixes o/app#12\n") != 1 {
		t.Errorf("got\n%s", got)
	}
	w.Receipt.Prompt = history.Issue{Title: "It's slow", Source: "https://github.com/o/app/issues/12\u2028#1"}.Head()
	if got := Describe(w); strings.Contains(got.Body, "Fixes") {
		t.Errorf("got\n%s", got)
	}
}

func TestAPullRequestOfSeveralLoopsHasAPartForEach(t *testing.T) {
	got := Describe(workOf(strings.Repeat("Long ", 40)), workOf("Two"), workOf("Three"))
	if n := utf8.RuneCountInString(got.Title); n > 72 || !strings.HasSuffix(got.Title, "…, and 2 more") {
		t.Errorf("%d runes: %s", n, got.Title)
	}
	if heads := strings.Count("\n"+got.Body, "\n## `"); heads != 3 || !strings.Contains(got.Body, "## `Three`\n") {
		t.Errorf("%d parts in\n%s", heads, got.Body)
	}
}

func TestAPullRequestIsBounded(t *testing.T) {
	w := workOf("x")
	for i := range 2000 {
		w.Changes = append(w.Changes, worktree.Change{Path: fmt.Sprintf("%d%s", i, strings.Repeat("x", 4000)), Added: 1})
	}
	w.Receipt.Rows = append(w.Receipt.Rows, wire.Detail{Label: "Warned", Text: strings.Repeat("w", 1<<20)})
	got := Describe(w).Body
	if len(got) > 60_000 || !strings.Contains(got, "\n- Changes: 2000 files, +2000 -0\n") || !strings.HasSuffix(got, "\n  - and 1950 more files\n") {
		t.Errorf("%d bytes: %s", len(got), got[max(len(got)-200, 0):])
	}
}

// What agents say has no part in how a description is built, whatever it is.
func TestNoWordsForgeAPullRequest(t *testing.T) {
	for _, evil := range []string{
		"# Approved", "ok\n\n# Approved\n", "ok\r# Approved", "`code` and ``more``", "`", "```\n# Approved", "x ` [here](http://evil) `", "![](http://evil/track.png)", "<!-- hidden", "<h1>Approved</h1>",
		"</blockquote><h1>Approved", "- item", "> quote", "\x1b[2K\x1b]8;;http://evil\x07link", "a\u202eb\u2028# Approved", "@everyone fixes #1", "---", "===", "    indented", "\\` \\", "~~~", "| a | b |\n|---|---|", "",
	} {
		w := workOf(evil, worktree.Change{Path: evil})
		for _, row := range []string{"Asked", "Result", "Failed", "Warned"} {
			w.Receipt.Rows = append(w.Receipt.Rows, wire.Detail{Label: row, Text: evil}, wire.Detail{Text: evil})
		}
		got := Describe(w, w)
		var html strings.Builder
		must.OK(t, goldmark.Convert([]byte(got.Body), &html))
		outside := html.String() // of quotes and code there are only our own headings and lists
		for _, tags := range [][2]string{{"<blockquote>", "</blockquote>"}, {"<code>", "</code>"}} {
			for {
				from, behind, ok := strings.Cut(outside, tags[0])
				if !ok {
					break
				}
				_, behind, _ = strings.Cut(behind, tags[1])
				outside = from + behind
			}
		}
		for _, bad := range []string{"<h1", "<a ", "<img", "<!--", "<hr", "<pre", "<table", "Approved", "evil", "fixes", "\x1b", "\u202e", "\r"} {
			if strings.Contains(outside, bad) || strings.Contains(got.Title, "\n") {
				t.Errorf("%q makes %q of\n%s\n%s", evil, bad, got, html.String())
				break
			}
		}
		if n := strings.Count(outside, "<h2"); n != 2 {
			t.Errorf("%q makes %d headings of\n%s", evil, n, got)
		}
		if strings.Contains(html.String(), "raw HTML omitted") || strings.ContainsAny(got.Body+got.Title, "\x1b\u202e\u2028\r") {
			t.Errorf("%q makes HTML of\n%s", evil, got)
		}
	}
}
