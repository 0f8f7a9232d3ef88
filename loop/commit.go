package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// commit commits what an iteration left uncommitted, where its worktree is to
// have that. What goes wrong is told once and ends nothing: landing commits it.
func (s *snapshots) commit(iteration int, title, words string) {
	tree, ok := worktree.Find(s.folder)
	if !ok || !tree.Commits {
		return
	}
	message := cmp.Or(CommitMessage(words), CommitMessage(fmt.Sprintf("Iteration %d: %s", iteration, title)))
	var snapshot string
	if s.store != nil && s.store.IsWhole() {
		snapshot = s.now.Tree
	}
	_, err := tree.Commit(s.alive, message, snapshot, ownFilesIn(tree))
	if err == nil || s.alive.Err() != nil {
		return
	}
	if told := fmt.Sprintf("iteration %d isn't committed: %v", iteration, err); !slices.Contains(s.told, err.Error()) {
		s.told = append(s.told, err.Error())
		s.warn(told)
	}
}

// What bounds the message of a commit: its subject, in runes, and its body, in bytes.
const (
	maxSubject = 72
	maxBody    = 4000
)

// CommitMessage makes of an agent's last words the message of a commit: a subject of
// at most 72 runes, and what is more as its body. What the agent says to the loop isn't
// in it. It is "" when there are no words.
func CommitMessage(words string) string {
	var lines []string
	for line := range strings.Lines(promises.WithoutPromises(stream.Plain(words))) {
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
