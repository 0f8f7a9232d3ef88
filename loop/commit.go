package loop

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// OwnFilesIn are the beginnings of the paths of a loop's own files in its tree.
func OwnFilesIn(t worktree.Tree) []string {
	prefix := ""
	if rel, err := filepath.Rel(t.Path, t.Folder); err == nil && rel != "." {
		prefix = filepath.ToSlash(rel) + "/"
	}
	var own []string
	for _, name := range loopstate.OwnFiles() {
		own = append(own, prefix+name)
	}
	return own
}

// The bounds of a commit's message: its subject, in runes, and its body, in bytes.
const (
	maxSubject = 72
	maxBody    = 4000
)

// CommitMessage makes the message of a commit from an agent's last words: a subject of at most 72 runes, and the rest
// as its body, without promises and topics. It is "" when there are no words.
func CommitMessage(words string) string {
	var lines []string
	for line := range strings.Lines(promises.WithoutPromises(stream.Sanitize(words))) {
		lines = append(lines, strings.TrimRightFunc(line, unicode.IsSpace))
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if text == "" {
		return ""
	}
	first, rest, _ := strings.Cut(text, "\n")
	whole := undecorated(first)
	if ends(whole) == "" {
		return CommitMessage(rest)
	}
	subject, more := whole, ""
	if sentence, behind, ok := strings.Cut(whole, ". "); ok && ends(sentence) != "" {
		subject, more = sentence, behind
	}
	if short := stream.Line(subject, maxSubject); short != subject {
		subject, more = short, whole
	}
	body := strings.TrimSpace(more + "\n\n" + strings.TrimSpace(rest))
	if len(body) > maxBody {
		body = strings.ToValidUTF8(body[:maxBody], "") + "..."
	}
	return strings.TrimSpace(ends(subject)+"\n\n"+body) + "\n"
}

// ends is a subject without what ends a sentence.
func ends(subject string) string { return strings.TrimRight(subject, ".: ") }

// undecorated is a line without the marks that make it a heading, an item or strong.
func undecorated(line string) string {
	line = strings.TrimLeft(line, "#>*-+ \t")
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(line))
}
