package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Checkout is a copy of the repository's files as a snapshot has them, where somebody works beside others. Its .git is
// its own and only reads the repository's objects: a commit, a branch or a stash that is made there reaches nobody.
// For us that .git says nothing, as an agent may write it.
type Checkout struct {
	Base string // the snapshot's tree
	From string // the work tree that it is a copy of

	in    *archive
	files *index
}

// Top is where it is, Folder what in it is the loop's.
func (c *Checkout) Top() string    { return c.in.book.Top }
func (c *Checkout) Folder() string { return c.in.book.Folder }

// checkoutPatience is how long git may take for the files.
const checkoutPatience = time.Hour

// ErrNoRepository says that snapshots aren't in a repository of the folder's.
var ErrNoRepository = errors.New("the folder isn't in a git repository that ralph-lsp keeps snapshots in " +
	"(docs/CHANGES.md says which it can't)")

// CanCheckOut says why no Checkout can be made of a folder. Errors: ErrNoGit, ErrNoRepository.
func CanCheckOut(ctx context.Context, folder string, o Options) error {
	program, _, err := o.find()
	if err == nil && discover(ctx, program, book{Folder: folder}).GitDir == "" {
		err = ErrNoRepository
	}
	return err
}

// Checkouts are copies of a snapshot's files, whose work comes into the folder.
type Checkouts struct{ snaps *Snapshots }

// Make makes a checkout of a snapshot's tree in dir, which must not exist yet. Its other files are beside it; their
// names begin with dir's.
func (c Checkouts) Make(ctx context.Context, dir, tree string) (*Checkout, error) {
	from := c.snaps.in
	if from.book.Own {
		return nil, ErrNoRepository
	}
	home, b := dir+".index", from.book
	b.Top, b.Folder = dir, filepath.Join(dir, filepath.FromSlash(from.book.prefix()))
	for _, folder := range []string{home, b.Folder, filepath.Join(dir, ".git", "objects", "info"),
		filepath.Join(dir, ".git", "refs"), filepath.Join(dir, ".git", "info")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
	}
	in := &archive{id: from.id, home: home, book: b, git: newGit(from.git.Program, home, b)}
	in.git.As(from.git)
	in.git.Patience = checkoutPatience
	if _, err := in.git.Run(ctx, nil, "read-tree", "--reset", "-u", tree); err != nil {
		return nil, err
	}
	made := &Checkout{Base: tree, From: from.book.Top, in: in, files: indexOf(in)}
	return made, made.fillGit(ctx)
}

// fillGit makes the .git of the checkout that whoever works there sees: on the same commit as the repository, on no
// branch, with its branches and tags as they are now.
func (c *Checkout) fillGit(ctx context.Context) error {
	dir, common := filepath.Join(c.in.book.Top, ".git"), git.CommonOf(c.in.book.GitDir)
	head, noCommit := c.in.git.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if noCommit != nil { // yet
		head = "ref: refs/heads/main"
	}
	refs, err := c.in.git.Run(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	if err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if len(c.Base) > 40 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	files := map[string]string{
		"HEAD": head + "\n", "packed-refs": string(refs), "objects/info/alternates": filepath.ToSlash(filepath.Join(common, "objects")) + "\n",
		"config": fmt.Sprintf("%s[include]\n\tpath = %q\n", config, filepath.ToSlash(filepath.Join(common, "config"))),
	}
	for _, name := range []string{"info/exclude", "info/sparse-checkout", "shallow"} {
		if data, err := regular.Read(filepath.Join(common, filepath.FromSlash(name)), regular.Long); err == nil {
			files[name] = string(data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for name, text := range files {
		if err := regular.Write(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if noCommit != nil {
		return nil
	}
	index := filepath.Join(dir, "index")
	if _, _, err := git.CopyIndex(filepath.Join(c.in.home, indexName), index); err != nil {
		return err
	}
	_, err = c.in.git.With("GIT_INDEX_FILE="+index).Run(ctx, nil, "read-tree", "-m", head)
	return err
}

// Work is what was done in a checkout.
type Work struct {
	Tree  string
	Paths []string // that differ from what it began with, in the loop's folder
	Notes []string // what isn't in it, and why, as Taken.Notes
}

// Work looks at the checkout as it is now.
func (c *Checkout) Work(ctx context.Context) (w Work, err error) {
	seen, err := c.files.look(ctx, unbounded)
	if err == nil {
		err = c.files.update(ctx, &seen, time.Time{})
	}
	if err == nil {
		w.Tree, err = c.in.git.Text(ctx, nil, "write-tree", "--missing-ok")
	}
	if err != nil {
		return w, err
	}
	changed, err := Diff{c.in}.entries(ctx, c.Base, w.Tree, nil)
	w.Paths, w.Notes = slices.Sorted(maps.Keys(changed)), seen.notes
	return w, err
}

// maxPatch bounds what is kept of a work that doesn't land, in bytes.
const maxPatch = 64 << 20

// KeepWork writes work that was done in a checkout of a tree into a file beside the snapshots, but for one path, and
// returns where that is: "" when nothing is in it. It is a patch, as git apply takes one in the folder.
func (c Checkouts) KeepWork(ctx context.Context, name, base string, w Work, but string) (string, error) {
	in := c.snaps.in
	within, err := in.book.within(slices.DeleteFunc(slices.Clone(w.Paths), func(path string) bool { return path == but }))
	if err != nil || len(within) == 0 {
		return "", err
	}
	patch, all, err := in.git.UpTo(maxPatch).RunSome(ctx, in.book.diffArgs([]string{"-p", "--binary", "--no-color"}, base, w.Tree, within)...)
	if err == nil && !all {
		err = fmt.Errorf("its patch has more than %d MiB", maxPatch>>20)
	}
	if err == nil {
		err = in.writeOwn(name, patch)
	}
	return filepath.Join(in.home, name), err
}

// whyDropped is what whyNew is where a file isn't undone, but deleted beside the folder.
const whyDropped = "one deleted it, the other changed it"

// Land brings work that was done in checkouts of a tree into the folder, one after the other, as iteration n's: a
// three-way merge of each file but one. A work of which a file can't be merged is left out as a whole. refused says
// for each work why; nil: it is in the folder. taken is a snapshot of the folder as it was right before.
func (c Checkouts) Land(ctx context.Context, n int, base string, works []Work, but string) (refused [][]Refusal, taken Taken, err error) {
	release, err := c.snaps.in.hold(ctx)
	if err != nil {
		return nil, taken, err
	}
	defer release()
	as := snapshot{Kind: kindIteration, Number: n}
	if taken, err = c.snaps.take(ctx, as); err != nil {
		return nil, taken, fmt.Errorf("making a snapshot first: %w", err)
	}
	p := c.snaps.restoration(as)
	refused = make([][]Refusal, len(works))
	for i, w := range works {
		now, then := maps.Clone(p.now), maps.Clone(p.then)
		p.refused = map[string]string{}
		if err := p.takeBack(ctx, span{from: snapshot{tree: w.Tree}, to: snapshot{tree: base}}, snapshot{tree: taken.Tree}, nil); err != nil {
			return nil, taken, err
		}
		delete(p.refused, but)
		if refused[i] = p.reasons(); len(refused[i]) > 0 {
			p.now, p.then = now, then
		}
	}
	p.refused = map[string]string{}
	maps.DeleteFunc(p.then, func(path string, v version) bool { return path == but || v == p.now[path] })
	if len(p.then) > 0 {
		err = p.write(ctx)
	}
	for i, w := range works { // files that were changed in this moment
		for _, r := range p.reasons() {
			if len(refused[i]) == 0 && slices.Contains(w.Paths, r.Path) {
				refused[i] = []Refusal{r}
			}
		}
	}
	return refused, taken, err
}

// reasons are why files of a landing stay as they are.
func (p *restoration) reasons() []Refusal {
	found := p.outcome().Refused
	for i, r := range found {
		if r.Reason == whyNew {
			found[i].Reason = whyDropped
		}
	}
	return found
}
