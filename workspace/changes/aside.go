package changes

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
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
func (d Diff) Trees(ctx context.Context) ([]Past, error) {
	snapshots, err := d.in.snapshots()
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
func (s *Snapshots) Shows(ctx context.Context, path string) bool {
	name, err := filepath.Rel(s.in.book.Folder, filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path)))
	if err != nil || !filepath.IsLocal(name) {
		return false
	}
	name = filepath.ToSlash(name)
	if s.in.book.skips(name) {
		return true
	}
	g, within := s.in.git, s.in.book.prefix()+name
	if r := s.in.book.belowAt(name); r != "" {
		g, within = g.Within(s.in.book.topOf(r)), strings.TrimPrefix(name, r+"/")
	}
	g = g.With("GIT_LITERAL_PATHSPECS=0") // it refuses them
	_, err = g.Run(ctx, []byte(within+"\x00"), "check-ignore", "-z", "--stdin")
	return git.ExitCode(err) == 1
}

// state is how the folder is with a tree that was just looked at.
func (s *Snapshots) state(tree string, refs uint64) State {
	return State{Tree: tree, Aside: refs ^ s.files.left, Blind: s.files.blind || s.files.below.isDark}
}

// IsWhole says whether the last snapshot has all files of the repository's work tree as they were,
// but for those that are nobody's work and those that git ignores, and nothing else.
func (s *Snapshots) IsWhole() bool {
	return !s.in.book.Own && len(s.in.book.Below) == 0 && s.in.book.prefix() == "" && len(s.in.book.Hidden) == 0 &&
		s.files.left == 0 && !s.files.blind
}

// AsIs is the tree of the folder's files as they are now, byte for byte, but for skip and those that git ignores. It is
// "" where the last snapshot has another one, or nobody can tell without git.
func (s *Snapshots) AsIs(skip []string) string {
	now, _ := s.in.book.look(s.files.printed)
	if !s.in.book.AsIs || !s.IsWhole() || !slices.Equal(s.in.book.Skip, skip) || now.Sum == 0 || now.Sum != s.seen.Sum {
		return ""
	}
	return s.seen.tip.tree
}

// noteLeft takes note of a file that isn't in the snapshot.
func (x *index) noteLeft(name string) {
	t, err := stamp.TraceOf(filepath.Join(x.in.book.Top, filepath.FromSlash(name)))
	if err != nil || t.IsDir {
		x.blind = true
		return
	}
	one := stamp.Stamp{}
	one.Add(name, t)
	x.left += one.Sum // in no order
}
