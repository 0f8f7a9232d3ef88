package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Tree is a worktree of ours. Paths are absolute and without links.
type Tree struct {
	Path    string `json:"path"`             // its top
	Folder  string `json:"folder"`           // the loop's: in the tree what the start's folder is in Repo
	Branch  string `json:"branch"`           // the loop's, without refs/heads/
	Repo    string `json:"repo"`             // the work tree that it was started in; of a bare repository, its folder
	Base    string `json:"base"`             // the commit that it began with
	Made    bool   `json:"made"`             // Branch was made for it
	Commits bool   `json:"commit,omitempty"` // each iteration is committed there
	Admin   string `json:"admin"`            // git's folder for it, <common>/worktrees/<name>
}

// In maps a folder below from to the same one below to: the tree's for its repository's, or the
// other way round. For a folder that isn't below from it returns to.
func In(from, to, folder string) string {
	rel, err := filepath.Rel(from, paths.Real(folder))
	if err != nil || !filepath.IsLocal(rel) {
		return to
	}
	return filepath.Join(to, rel)
}

// Options say what tree is wanted.
type Options struct {
	Folder      string   // where the loop would run without one
	Title       string   // names the branch where Branch is empty
	Branch      string   // one that exists is taken as it is
	Commit      bool     // each iteration is to be committed there
	WithChanges bool     // it begins with the files as they are, not with HEAD
	Hidden      []string // files and folders of Folder that agents may not read: WithChanges takes none of their changes along
	Place       string   // the folder of the trees, from the repository's on; {repo} is its name; "" is DefaultPlace
}

// DefaultPlace is where trees are.
const DefaultPlace = "../{repo}.worktrees"

// Error says why there is no tree, and what to do.
type Error struct{ Why, Fix string }

func (e *Error) Error() string { return "no worktree: " + e.Why + "; " + e.Fix }

// Making is a tree that isn't whole before Done.
type Making struct {
	Tree
	Notes  []string // notes for the user
	record *record
}

// checkoutPatience is how long git may take for the files.
const checkoutPatience = time.Hour

// Preview says what Add would make, and makes nothing: Base is empty with WithChanges.
//
// Errors: *Error, and what the system says.
func Preview(ctx context.Context, o Options) (Tree, error) {
	r, err := open(ctx, o.Folder)
	if err != nil {
		return Tree{}, err
	}
	rec, err := r.choose(ctx, o)
	t := rec.Tree
	t.Folder = In(r.top, t.Path, o.Folder)
	return t, err
}

// Add makes a tree. Done or Drop has to follow. Its errors are those of Preview.
func Add(ctx context.Context, o Options) (*Making, error) {
	r, err := open(ctx, o.Folder)
	if err != nil {
		return nil, err
	}
	rec, err := r.begin(ctx, o)
	if err != nil {
		return nil, err
	}
	m := &Making{Tree: rec.Tree, record: rec}
	if err := m.make(ctx, r, o); err != nil {
		return nil, errors.Join(err, m.Drop())
	}
	return m, nil
}

// make does what the record says.
func (m *Making) make(ctx context.Context, r repo, o Options) (err error) {
	g := r.git
	g.Lock, g.Patience = m.record.lock, checkoutPatience
	if o.WithChanges {
		if m.Base, m.Notes, err = r.commitChanges(ctx, g, m.record.indexFile(), m.Base, r.hidden(o)); err != nil {
			return err
		}
		m.record.Base = m.Base
		if err := m.record.write(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(m.Path), 0o777); err != nil {
		return &Error{"the folder for it can't be made: " + err.Error(), "say where it may be, with [worktree] place"}
	}
	args := []string{"worktree", "add", "--quiet", m.Path, m.Branch}
	if m.Made {
		args = []string{"worktree", "add", "--quiet", "-b", m.Branch, m.Path, m.Base}
	}
	release, err := lockFile(ctx, filepath.Join(recordsOf(r.common), "lock")) // a git that meets the half of another tree gives up
	if err != nil {
		return err
	}
	_, err = g.Afresh().Run(ctx, nil, args...)
	if release(); err != nil {
		return &Error{err.Error(), "nothing is left of it"}
	}
	if linkOf(m.Path) != paths.Real(m.Admin) {
		return &Error{"another worktree of that name was made at the same moment", "start again"}
	}
	m.Path, m.Admin = paths.Real(m.Path), paths.Real(m.Admin)
	m.Folder, m.Commits = In(r.top, m.Path, o.Folder), o.Commit
	if err := writeMarker(m.Tree); err != nil {
		return err
	}
	if info, err := os.Stat(m.Folder); err != nil || !info.IsDir() {
		return &Error{fmt.Sprintf("%s isn't in the commit that it begins with", o.Folder), "commit it first, or say --with-changes"}
	}
	if modules := r.submodules(ctx, m.Path); modules != "" {
		m.Notes = append(m.Notes, "submodules are empty in the worktree ("+modules+
			"): git submodule update --init fills them, also as [worktree] setup")
	}
	return nil
}

// Done says that the tree is whole: it stays, unless Drop is called.
func (m *Making) Done() error {
	if err := takeDown(m.record.Common, m.past(FateMade)); err != nil {
		return err
	}
	return m.record.remove()
}

// Drop removes what there is of the tree, and the branch that was made for it. It must be called
// before anybody works in the tree.
func (m *Making) Drop() error { return m.record.undo() }

// submodules are their paths in a tree.
func (r repo) submodules(ctx context.Context, top string) string {
	if _, err := os.Lstat(filepath.Join(top, ".gitmodules")); err != nil {
		return ""
	}
	out, _ := r.git.Text(ctx, nil, "config", "-z", "-f", filepath.Join(top, ".gitmodules"), "--get-regexp", `^submodule\..*\.path$`)
	var names []string
	for _, entry := range git.Fields([]byte(out)) {
		if _, path, ok := strings.Cut(entry, "\n"); ok {
			names = append(names, path)
		}
	}
	return strings.Join(names, ", ")
}

// repo is the repository of a start.
type repo struct {
	git    git.Git
	common string // its folder, which all its work trees share
	top    string // the work tree of the start; of a bare one, common
	bare   bool
}

// open finds the repository that a folder is in.
func open(ctx context.Context, folder string) (r repo, err error) {
	if r.git.Program, err = git.Find(); err != nil {
		return r, &Error{err.Error(), "install it, or leave --worktree out"}
	}
	r.git.Dir = folder
	if own := paths.Real(folder); isRepository(own) && CommonDir(filepath.Dir(own)) == "" { // a bare one; within another it is but files
		r.git.Env = []string{"GIT_DIR=" + own}
	}
	out, err := r.git.Text(ctx, nil, "rev-parse", "--is-bare-repository", "--git-common-dir")
	bare, common, ok := strings.Cut(out, "\n")
	switch {
	case err != nil && strings.Contains(err.Error(), "not a git repository"):
		return r, &Error{folder + " is in no git repository", "make one with git init, or leave --worktree out"}
	case err != nil || !ok:
		return r, &Error{cmp.Or(err, errors.New("git says nothing of its folder")).Error(), "mend the repository, or leave --worktree out"}
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(folder, common)
	}
	r.common, r.bare = paths.Real(common), bare == "true"
	r.top = r.common
	if !r.bare {
		if r.top, err = r.git.Text(ctx, nil, "rev-parse", "--show-toplevel"); err != nil {
			return r, &Error{err.Error(), "start in a folder of its work tree"}
		}
		r.top = paths.Real(r.top)
	}
	r.git.Dir = r.top
	return r, nil
}

// mainTop is the first work tree of a repository, or itself when it is bare.
func mainTop(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// place is the folder of the trees.
func (r repo) place(said string) string {
	said = strings.ReplaceAll(cmp.Or(said, DefaultPlace), "{repo}", strings.TrimSuffix(filepath.Base(mainTop(r.common)), ".git"))
	if !filepath.IsAbs(said) {
		said = filepath.Join(mainTop(r.common), filepath.FromSlash(said))
	}
	return filepath.Clean(said)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
