package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet/child"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// checkouts are the folders of a worker: copies of repositories, and the checkouts of the
// loops that it has run. A checkout needs no copy.
type checkouts struct {
	dir     string
	bus     Bus
	fetcher git.Git
	ralph   string // ralph-lsp

	keep    int    // checkouts, and copies, that aren't used now
	minFree uint64 // bytes of the disk
	free    func(dir string) (int64, error)
	lock    *os.File // held by each git that works here
	left    child.Left
	made    sync.Map // by loop: the stamp.Stamp of its checkout before the checkpoint that is beside it was made

	mu    sync.Mutex
	repos map[string]*sync.RWMutex // who uses a copy
	used  map[string]int           // loops that are run
}

// workRef is what a checkpoint has beside the loop's snapshots: a commit of the work tree,
// whose parent is HEAD. bundledRef is the commit of a repository that is sent along.
const (
	workRef    = "refs/ralph-fleet/work"
	bundledRef = "refs/heads/ralph-fleet"
)

// stateName is where a loop has its state, below its checkout. attemptName says beside
// that what the checkout has, and keptName is what ralph-lsp keeps of it, which goes with it.
const (
	stateName   = loopstate.Name
	attemptName = "attempt"
	keptName    = "kept"
)

func (c *checkouts) git(dir string) git.Git {
	g := c.fetcher.In(dir)
	g.Lock = c.lock
	return g
}

// tree is where a loop's checkout is.
func (c *checkouts) tree(r Record) string {
	return filepath.Join(c.dir, filepath.FromSlash(TreeOf(r.ID)))
}

// TreeOf is where a loop's checkout is below its worker's folder, with slashes.
func TreeOf(id string) string { return "loops/" + id + "/tree" }

// keptOf is the folder beside a checkout for what ralph-lsp keeps of it.
func keptOf(tree string) string { return filepath.Join(filepath.Dir(tree), keptName) }

// marker says of which attempt the checkout has what came of it; it isn't there while one runs.
func (c *checkouts) marker(r Record) string { return filepath.Join(c.dir, "loops", r.ID, attemptName) }

// prepare makes the loop's checkout as its last attempt that counts has left it. One that
// is here already stays, with all that git ignores in it. beats gets what renews the lease
// of a child that works for it.
func (c *checkouts) prepare(ctx context.Context, r Record, lease time.Duration, beats func(renew func())) (tree string, err error) {
	tree = c.tree(r)
	has, _ := regular.Read(c.marker(r), regular.Short) // that can't be read is another one
	if string(has) == strconv.Itoa(r.Committed) && r.Committed > 0 {
		return tree, os.Remove(c.marker(r))
	}
	if err := c.fresh(ctx, r, tree); err != nil {
		return tree, err
	}
	return tree, c.setUp(ctx, r, tree, lease, beats)
}

// fresh makes a checkout anew, as its loop's last attempt that counts left it.
func (c *checkouts) fresh(ctx context.Context, r Record, tree string) error {
	defer timed(ctx, StageCheckout)()
	if err := c.remove(r.ID); err != nil {
		return err
	}
	if err := c.clone(ctx, r, tree); err != nil {
		return err
	}
	if r.Trust { // as it was submitted: what an agent makes of it needs trust of its own
		if err := run(ctx, tree, c.ralph, "trust", "-C", tree); err != nil {
			return fmt.Errorf("trusting ralph.toml: %w", err)
		}
	}
	if r.Committed > 0 {
		if err := c.restore(ctx, r, tree); err != nil {
			return fmt.Errorf("the checkpoint of attempt %d: %w", r.Committed, err)
		}
	}
	return nil
}

// clone makes a checkout of the commit that the task begins with.
func (c *checkouts) clone(ctx context.Context, r Record, tree string) error {
	if err := os.MkdirAll(filepath.Dir(tree), 0o700); err != nil {
		return err
	}
	g := c.git(tree)
	err := c.mirror(ctx, r, func(mirror string) error {
		if err := os.RemoveAll(tree); err != nil {
			return err
		}
		// What a clone does takes three processes more, and without its template it has 17 files less.
		if _, err := c.git(filepath.Dir(tree)).Run(ctx, nil, "init", "--quiet", "--template=", tree); err != nil {
			return err
		}
		if err := linkAll(filepath.Join(mirror, "objects"), filepath.Join(tree, ".git", "objects")); err != nil {
			return err
		}
		_, err := g.Afresh().Run(ctx, nil, "checkout", "--quiet", "-B", "ralph/"+r.Name, r.Base)
		return err
	})
	if err != nil {
		return fmt.Errorf("fetching %s: %w", r.Repo, err)
	}
	if !r.Bundled { // or it is a folder of somebody else's machine
		if _, err := g.Run(ctx, nil, "remote", "add", "origin", r.Repo); err != nil {
			return err
		}
	}
	exclude := filepath.Join(tree, ".git", "info", "exclude")
	if err := os.MkdirAll(filepath.Dir(exclude), 0o700); err != nil {
		return err
	}
	rules := ""
	for _, own := range loopstate.OwnFiles() {
		rules += "/" + own + "*\n"
	}
	return regular.Write(exclude, []byte(rules), 0o600)
}

// restore makes a fresh checkout what a checkpoint says.
func (c *checkouts) restore(ctx context.Context, r Record, tree string) error {
	bundle, err := c.download(ctx, r.CheckpointFile(r.Committed))
	if err != nil {
		return err
	}
	defer os.Remove(bundle)
	g := c.git(tree)
	g.NoFilters = true
	for _, args := range [][]string{
		{"fetch", "--quiet", "--no-write-fetch-head", "--no-tags", bundle, "+refs/ralph/*:refs/ralph/*", "+" + workRef + ":" + workRef},
		{"read-tree", "--reset", "-u", workRef},
		{"update-ref", "HEAD", workRef + "^"},
		{"read-tree", "HEAD"},
	} {
		if _, err := g.Run(ctx, nil, args...); err != nil {
			return err
		}
	}
	return c.placeState(ctx, r, tree)
}

// placeState puts the state that counts where the loop looks for it. No link of an agent's
// leads that out of the checkout.
func (c *checkouts) placeState(ctx context.Context, r Record, tree string) error {
	if !r.HasState {
		return nil
	}
	root, err := regular.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(stateName), 0o700); err != nil {
		return err
	}
	state, err := c.file(ctx, r.StateFile(r.Committed))
	if err != nil {
		return err
	}
	defer state.Close()
	f, err := regular.OpenIn(root, stateName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(c.copy(f, state), f.Close()); err != nil {
		return err
	}
	s, err := readState(tree)
	if err != nil {
		return err
	}
	// It comes from another worker and is no stranger's. Without that note less of it counts, as its user's answers.
	files := config.FilesOf(tree, nil)
	files.OwnDir = keptOf(tree)
	check, mark := files.CheckOf(s.LoopID)
	_ = files.RememberLoop(s.LoopID, check, mark)
	return nil
}

// setUp runs the task's setup in a fresh checkout, as a child that ends as one of an
// iteration does, with all that it has started.
func (c *checkouts) setUp(ctx context.Context, r Record, tree string, lease time.Duration, beats func(renew func())) error {
	if len(r.Setup) == 0 {
		return nil
	}
	defer timed(ctx, StageSetup)()
	s, err := child.Start(c.ralph, environ(tree), []string{"setup", "--lease", lease.String(), "-C", tree, "--"}, r.Setup, nil)
	if err != nil {
		return err
	}
	beats(s.Renew)
	if err := s.Wait(ctx); err != nil {
		return fmt.Errorf("%w: %s", err, s.Words())
	}
	return nil
}

// environ is what the programs of a checkout's loop get: not what opens the bus, or an agent could
// tell all workers what to run. ralph-lsp keeps what it keeps beside the checkout.
func environ(tree string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "RALPH_TOKEN=") })
	return append(outside.Environ(env), paths.EnvState+"="+keptOf(tree))
}

// run runs a program for a checkout, which its arguments name. The error has its last words.
func run(ctx context.Context, tree, program string, args ...string) error {
	cmd := outside.Command(ctx, program, args...)
	cmd.WaitDelay, cmd.Env = 10*time.Second, environ(tree)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.TrimSpace(string(out))
	return fmt.Errorf("%w: %s", err, words[max(len(words)-child.MaxWords, 0):])
}

// checkpoint makes a bundle of what the checkout has beyond the task's commit: files as
// they are, no filter changes them. What is in a repository within it isn't there, but for
// a submodule's commit. The bundle stays beside the checkout, and is the next one's where nothing has changed.
// made is git's tree of the files, "" where the loop's snapshots don't have them as they are.
func (c *checkouts) checkpoint(ctx context.Context, r Record, tree, made string) (bundle string, err error) {
	own := filepath.Join(tree, ".git")
	_, foreign := os.Lstat(filepath.Join(own, "commondir"))
	if info, err := os.Lstat(own); err != nil || !info.IsDir() || foreign == nil {
		return "", errors.New("the agent has removed .git, or made it another repository's")
	}
	bundle = filepath.Join(filepath.Dir(tree), "bundle")
	now, _ := stamp.Of(tree, func(_, name string) bool { return isUnkept(name) })
	if before, ok := c.made.LoadAndDelete(r.ID); ok && now.Same(before.(stamp.Stamp)) {
		c.made.Store(r.ID, before)
		return bundle, nil
	}
	defer func() {
		if err == nil {
			c.made.Store(r.ID, now)
		}
	}()
	g := c.git(tree).With("GIT_DIR="+own, "GIT_WORK_TREE="+tree)
	g.NoFilters = true // an agent's would run outside of its walls, and one as that of git LFS would keep the content here
	if made == "" {
		if made, err = written(ctx, g, own, filepath.Join(filepath.Dir(tree), "index")); err != nil {
			return "", err
		}
	}
	g = g.With(identity...)
	commit, err := g.Text(ctx, []byte(r.Name+"\n"), "commit-tree", made, "-p", "HEAD")
	if err != nil {
		return "", err
	}
	if _, err := g.Run(ctx, nil, "update-ref", workRef, commit); err != nil {
		return "", err
	}
	g.Settings = append(slices.Clip(g.Settings), "pack.threads=1") // to begin others takes longer than what is to be packed
	_, err = g.Run(ctx, nil, "bundle", "create", "--quiet", bundle, "--glob=refs/ralph/*", workRef, "^"+r.Base)
	return bundle, err
}

// written makes a tree of the files in a checkout, whose repository is own.
func written(ctx context.Context, g git.Git, own, index string) (tree string, err error) {
	defer os.Remove(index)
	if _, _, err := git.CopyIndex(filepath.Join(own, "index"), index); err != nil { // it only knows which files haven't changed
		os.Remove(index)
	}
	g = g.With("GIT_INDEX_FILE=" + index)
	if _, err := g.Run(ctx, nil, "read-tree", "--reset", "HEAD"); err != nil {
		return "", err
	}
	if _, err := g.StageAll(ctx, nil); err != nil {
		return "", err
	}
	return g.Text(ctx, nil, "write-tree")
}

// isUnkept says whether a file of a checkout has no part in its checkpoint, or only with others: objects with refs.
func isUnkept(name string) bool {
	isOwn := func(own string) bool { return strings.HasPrefix(name, own) }
	return slices.ContainsFunc(loopstate.OwnFiles(), isOwn) || name == ".git/index" || name == ".git/objects" || name == ".git/"+workRef
}

// identity is who made the commits of checkpoints. What is fetched is made anew, by its user.
var identity = []string{
	"GIT_AUTHOR_NAME=ralph-fleet", "GIT_AUTHOR_EMAIL=ralph-fleet@localhost", "GIT_COMMITTER_NAME=ralph-fleet",
	"GIT_COMMITTER_EMAIL=ralph-fleet@localhost",
}

// committed says that the checkout has what an attempt came to, which counts now.
func (c *checkouts) committed(r Record) error {
	return regular.Write(c.marker(r), []byte(strconv.Itoa(r.Committed)), 0o600)
}

// Transcript calls take with each line that an attempt has said which counts.
func Transcript(ctx context.Context, bus Bus, r Record, attempt int, take func(line []byte) error) error {
	from, err := bus.File(ctx, r.TranscriptFile(attempt))
	if err != nil {
		return err
	}
	defer from.Close()
	return livelog.EachLine(from, 0, take)
}

// Download fetches a file from the bus into a folder. The caller removes it.
func Download(ctx context.Context, bus Bus, name, dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return (&checkouts{dir: dir, bus: bus}).download(ctx, name)
}

// download fetches a file from the bus. The caller removes it.
func (c *checkouts) download(ctx context.Context, name string) (path string, err error) {
	from, err := c.file(ctx, name)
	if err != nil {
		return "", err
	}
	defer from.Close()
	f, err := os.CreateTemp(c.dir, "download-*")
	if err != nil {
		return "", err
	}
	if err = c.copy(f, from); err != nil {
		f.Close()
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), f.Close()
}

// file opens a file of the bus.
func (c *checkouts) file(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := c.bus.File(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, as{"the bus doesn't have the file " + name + " any more", ErrNotFound}
	}
	return f, err
}

// copy copies what may have any length, while there is room for it.
func (c *checkouts) copy(to io.Writer, from io.Reader) error {
	for {
		if c.minFree > 0 && !c.hasRoom() {
			return fmt.Errorf("there is no room for it: less than %d MiB of the disk are free", c.minFree>>20)
		}
		switch _, err := io.CopyN(to, from, 16<<20); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
