package loop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/stream/promises"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// FindTree finds the worktree of a loop: the one that a folder is in, or one of the
// repository that it is in. The name is the loop's id, its branch, or the end of that;
// "" is enough where there is only one. The error says which there are.
func FindTree(folder, name string) (worktree.Tree, error) {
	if t, ok := worktree.Find(folder); ok && (name == "" || isNamed(t, name)) {
		return t, nil
	}
	trees := slices.Concat(worktree.List(folder), worktree.Lost(folder))
	var found []worktree.Tree
	for _, t := range trees {
		if name == "" || isNamed(t, name) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var branches []string
	for _, t := range trees {
		branches = append(branches, t.Branch)
	}
	switch names := strings.Join(branches, ", "); {
	case len(trees) == 0:
		return worktree.Tree{}, fmt.Errorf("no loop has a worktree in %s; ralph-lsp run --worktree makes one", folder)
	case name == "":
		return worktree.Tree{}, fmt.Errorf("%s has %s of loops; say which one: %s", folder, tell.Counted(len(trees), "worktree"), names)
	default:
		return worktree.Tree{}, fmt.Errorf("no worktree of a loop in %s is called %s; there are %s", folder, name, names)
	}
}

// isNamed says whether a tree is that of a loop.
func isNamed(t worktree.Tree, name string) bool {
	if worktree.IsNamed(t.Branch, name) || paths.Real(name) == t.Path {
		return true
	}
	if _, state, err := StateIn(t.Folder); err == nil && state.LoopID == name {
		return true
	}
	s, err := changes.Find(t.Folder, "", changes.Options{})
	if err == nil && s.LoopID() == name {
		return true
	}
	e, ok := registry.Find(name)
	return ok && e.Folder == paths.Real(t.Folder)
}

// Land lands a loop's worktree, as worktree.Land does. A loop that somebody drives is
// refused; one that was left goes with its worktree. Words for commits are the agent's
// last ones, from the loop's session.
func Land(ctx context.Context, t worktree.Tree, o worktree.LandOptions) (worktree.Landed, error) {
	release, err := holdTree(t)
	if err != nil {
		return worktree.Landed{}, err
	}
	defer release()
	o.Skip, o.Words = OwnFilesIn(t), CommitMessage(lastWords(t.Folder))
	return worktree.Land(ctx, t, o)
}

// Settle commits what isn't committed of a loop's work on its branch, as worktree.Settle does.
func Settle(ctx context.Context, t worktree.Tree, o worktree.LandOptions, bundle string) error {
	release, err := holdTree(t)
	if err != nil {
		return err
	}
	defer release()
	o.Skip, o.Words = OwnFilesIn(t), CommitMessage(lastWords(t.Folder))
	return worktree.Settle(ctx, t, o, bundle)
}

// Discard removes a loop's worktree, as worktree.Discard does.
func Discard(ctx context.Context, t worktree.Tree, dryRun bool) (worktree.Discarded, error) {
	release, err := holdTree(t)
	if err != nil {
		return worktree.Discarded{}, err
	}
	defer release()
	return worktree.Discard(ctx, t, OwnFilesIn(t), dryRun)
}

// holdTree keeps loops out of a tree, and ends what a dead one may have left running.
// The error is a *worktree.Refused while somebody drives one there.
func holdTree(t worktree.Tree) (release func(), err error) {
	file, err := loopstate.Open(t.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil // it was removed by hand
	}
	if err != nil {
		return nil, err
	}
	lock, err := file.Lock(loopstate.Owner{})
	if held, ok := errors.AsType[*loopstate.LockedError](err); ok {
		return nil, &worktree.Refused{Reason: worktree.ReasonRunning, Text: fmt.Sprintf("the loop in %s is still running (process %d)", t.Folder, held.Owner.PID),
			Fix: []string{"wait for its end, or end it: ralph-lsp cancel -C " + tell.ShellWord(t.Folder)}}
	}
	if err != nil {
		return nil, err
	}
	previous, _ := lock.Previous()
	if err := EndRemains(previous); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return func() { _ = lock.Release() }, nil // its folder may be gone by then
}

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

// lastWords are what the last agent of a folder's last loop said at its end, "" when
// nobody knows.
func lastWords(folder string) (words string) {
	for _, last := range Kept(folder, 1) {
		words = history.LastWords(last.SessionFile)
	}
	return words
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
