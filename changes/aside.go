package changes

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/changes/stamp"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// State names how a folder was: the same names mean that nothing is new. The zero value is unknown.
type State struct {
	Tree string // the content of all files that snapshots have
	// Aside sums up what a snapshot doesn't have and that changes all the same: the
	// repository's commits and branches, and files that are too large. It means
	// nothing in another process.
	Aside uint64
	// Blind: there is more that may change unseen, such as a repository in the folder.
	Blind bool
}

// Past is a tree that the files had, and after which iteration: 0 is before the first.
type Past struct {
	Tree      string
	Iteration int
}

// Trees are those that the files had since somebody but an iteration changed them
// last, the oldest first; none of a loop that has no snapshots yet.
func (s *views) Trees(ctx context.Context) ([]Past, error) {
	snapshots, err := s.snapshots()
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	var trees []Past
	iteration := 0
	for _, st := range snapshots {
		if st.isWork() {
			iteration = st.Number
		} else {
			trees = nil
		}
		trees = append(trees, Past{st.tree, iteration})
	}
	return trees, err
}

// Shows says whether snapshots have what a tool writes to a file, whose path is
// absolute: it is in the folder, and git doesn't ignore it. Our own files count as
// shown.
func (s *shots) Shows(ctx context.Context, path string) bool {
	name, err := filepath.Rel(s.book.Folder, filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path)))
	if err != nil || !filepath.IsLocal(name) {
		return false
	}
	name = filepath.ToSlash(name)
	if s.book.skips(name) {
		return true
	}
	g, within := s.git, s.book.prefix()+name
	if r := s.book.belowAt(name); r != "" {
		g, within = g.Within(s.book.topOf(r)), strings.TrimPrefix(name, r+"/")
	}
	g = g.With("GIT_LITERAL_PATHSPECS=0") // it refuses them
	_, err = g.Run(ctx, []byte(within+"\x00"), "check-ignore", "-z", "--stdin")
	return git.ExitCode(err) == 1
}

// state is how the folder is with a tree that was just looked at.
func (s *shots) state(tree string, refs uint64) State {
	return State{Tree: tree, Aside: refs ^ s.left, Blind: s.blind || s.isDark}
}

// IsWhole says whether the last snapshot has all files of the repository's work tree as they were,
// but for those that are nobody's work and those that git ignores, and nothing else.
func (s *shots) IsWhole() bool {
	return !s.book.Own && len(s.book.Below) == 0 && s.book.prefix() == "" && len(s.book.Hidden) == 0 && s.left == 0 && !s.blind
}

// AsIs is the tree of the folder's files as they are now, byte for byte, but for skip and those that git ignores. It is
// "" where the last snapshot has another one, or nobody can tell without git.
func (s *shots) AsIs(skip []string) string {
	now, _ := s.book.look(s.printed)
	if !s.book.AsIs || !s.IsWhole() || !slices.Equal(s.book.Skip, skip) || now.Sum == 0 || now.Sum != s.seen.Sum {
		return ""
	}
	return s.seen.tip.tree
}

// noteLeft takes note of a file that isn't in the snapshot.
func (s *shots) noteLeft(name string) {
	t, err := stamp.TraceOf(filepath.Join(s.book.Top, filepath.FromSlash(name)))
	if err != nil || t.IsDir {
		s.blind = true
		return
	}
	one := stamp.Stamp{}
	one.Add(name, t)
	s.left += one.Sum // in no order
}

// refsNow sums up the branches and tags, and what HEAD is, of the repository and of those below the folder; of those that
// no snapshot has, the files as well.
func (s *shots) refsNow() uint64 {
	sum := stamp.Stamp{}
	if !s.book.Own {
		sum.AddRefs(s.book.GitDir, commonDir(s.book.GitDir))
	}
	s.below.dirs = map[string]string{}
	for _, r := range git.Below(s.book.Folder) {
		s.below.dirs[r.Name] = r.Dir
		sum.AddRefs(r.Dir, commonDir(r.Dir))
		if s.book.has(r) {
			continue
		}
		files, isLarge := stamp.Of(r.Top, func(path, _ string) bool { return filepath.Base(path) == ".git" })
		sum.Sum, s.isDark = sum.Sum*31+files.Sum, s.isDark || isLarge
	}
	return sum.Sum
}
