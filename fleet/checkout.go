package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ralph-lsp/internal/git"
)

// checkouts are the folders of a worker: what it has fetched of repositories, and the
// checkouts of the loops that it has run.
type checkouts struct {
	dir     string
	bus     Bus
	program string // git
	ralph   string // ralph-lsp

	mu    sync.Mutex
	repos map[string]*sync.Mutex // one fetch of a repository at a time
}

// workRef is what a checkpoint has beside the loop's snapshots: a commit of the work tree,
// whose parent is HEAD.
const workRef = "refs/ralph-fleet/work"

// stateName is where a loop has its state, below its checkout.
const stateName = ".pi/ralph-loop.local.md"

// fetching is how long git may take to fetch.
const fetching = 10 * time.Minute

func (c *checkouts) git(dir string) git.Git { return Fetcher(c.program, dir) }

// Fetcher is git that may fetch: what the user named, as the user.
func Fetcher(program, dir string) git.Git {
	return git.Git{Program: program, Dir: dir, Patience: fetching, Settings: []string{"protocol.allow=always", "core.autocrlf=false"},
		Env: []string{"GIT_ALLOW_PROTOCOL=file:https:ssh:http:git"}}
}

// tree is where a loop's checkout is.
func (c *checkouts) tree(r Record) string { return filepath.Join(c.dir, "loops", r.ID, "tree") }

// marker says of which attempt the checkout has what came of it; it isn't there while one runs.
func (c *checkouts) marker(r Record) string { return filepath.Join(c.dir, "loops", r.ID, "attempt") }

// prepare makes the loop's checkout as its last attempt that counts has left it. One that
// is here already stays, with all that git ignores in it. beat gets what renews the lease
// of a child that works for it.
func (c *checkouts) prepare(ctx context.Context, r Record, lease time.Duration, beat chan<- func()) (tree string, err error) {
	tree = c.tree(r)
	has, _ := os.ReadFile(c.marker(r)) // that can't be read is another one
	if string(has) == strconv.Itoa(r.Committed) && r.Committed > 0 {
		return tree, os.Remove(c.marker(r))
	}
	end := step(ctx, StepCheckout)
	defer func() { end(err) }()
	if err := os.RemoveAll(filepath.Dir(tree)); err != nil {
		return tree, err
	}
	if err := c.clone(ctx, r, tree); err != nil {
		return tree, err
	}
	if r.Trust { // as it was submitted: what an agent makes of it needs trust of its own
		if err := run(ctx, tree, c.ralph, "trust"); err != nil {
			return tree, fmt.Errorf("trusting ralph.toml: %w", err)
		}
	}
	if r.Committed > 0 {
		if err := c.restore(ctx, r, tree); err != nil {
			return tree, fmt.Errorf("the checkpoint of attempt %d: %w", r.Committed, err)
		}
	}
	end(nil)
	return tree, c.setUp(ctx, r, tree, lease, beat)
}

// clone makes a checkout of the commit that the task begins with.
func (c *checkouts) clone(ctx context.Context, r Record, tree string) error {
	mirror, err := c.mirror(ctx, r)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", r.Repo, err)
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o700); err != nil {
		return err
	}
	if _, err := c.git(filepath.Dir(tree)).Run(ctx, nil, "clone", "--quiet", "--shared", "--no-checkout", mirror, tree); err != nil {
		return err
	}
	g := c.git(tree)
	if _, err := g.Run(ctx, nil, "checkout", "--quiet", "-B", "ralph/"+r.Name, r.Base); err != nil {
		return err
	}
	exclude := filepath.Join(tree, ".git", "info", "exclude")
	if err := os.MkdirAll(filepath.Dir(exclude), 0o700); err != nil {
		return err
	}
	return os.WriteFile(exclude, []byte("/"+stateName+"*\n"), 0o600)
}

// mirror fetches the task's commit into the worker's copy of its repository.
func (c *checkouts) mirror(ctx context.Context, r Record) (string, error) {
	name := Slug(r.Repo)
	c.mu.Lock()
	if c.repos[name] == nil {
		c.repos[name] = new(sync.Mutex)
	}
	lock := c.repos[name]
	c.mu.Unlock()
	lock.Lock()
	defer lock.Unlock()
	dir := filepath.Join(c.dir, "repos", name+".git")
	g := c.git(dir)
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		if _, err := g.Run(ctx, nil, "init", "--quiet", "--bare"); err != nil {
			return "", err
		}
	}
	if _, err := g.Run(ctx, nil, "cat-file", "-e", r.Base+"^{commit}"); err == nil {
		return dir, nil
	}
	from := r.Repo
	if r.Bundled {
		bundle, err := c.download(ctx, r.RepoFile())
		if err != nil {
			return "", err
		}
		defer os.Remove(bundle)
		from = bundle
	}
	_, err := g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", from, "+refs/*:refs/remotes/origin/*")
	if err != nil {
		return "", err
	}
	if _, err := g.Run(ctx, nil, "cat-file", "-e", r.Base+"^{commit}"); err != nil {
		return "", fmt.Errorf("it doesn't have the commit %s any more", r.Base)
	}
	return dir, nil
}

// restore makes a fresh checkout what a checkpoint says.
func (c *checkouts) restore(ctx context.Context, r Record, tree string) error {
	bundle, err := c.download(ctx, r.CheckpointFile(r.Committed))
	if err != nil {
		return err
	}
	defer os.Remove(bundle)
	g := c.git(tree)
	for _, args := range [][]string{
		{"fetch", "--quiet", "--no-write-fetch-head", bundle, "+refs/*:refs/*"},
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

// placeState puts the state that counts where the loop looks for it.
func (c *checkouts) placeState(ctx context.Context, r Record, tree string) error {
	name := filepath.Join(tree, stateName)
	if !r.HasState {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	state, err := c.bus.File(ctx, r.StateFile(r.Committed))
	if err != nil {
		return err
	}
	defer state.Close()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, state)
	return errors.Join(err, f.Close())
}

// maxSetupWords is how much of what a setup printed is told.
const maxSetupWords = 2 << 10

// setUp runs the task's setup in a fresh checkout, as a child that ends as one of an
// iteration does, with all that it has started.
func (c *checkouts) setUp(ctx context.Context, r Record, tree string, lease time.Duration, beat chan<- func()) (err error) {
	if len(r.Setup) == 0 {
		return nil
	}
	end := step(ctx, StepSetup)
	defer func() { end(err) }()
	args := append([]string{"setup", "--lease", lease.String(), "-C", tree, "--"}, r.Setup...)
	s, err := spawn(c.ralph, tree, args, func([]byte) {})
	if err != nil {
		return err
	}
	s.holds(ctx, beat)
	if err := s.wait(ctx); err != nil {
		return fmt.Errorf("%w: %s", err, s.tail.text())
	}
	return nil
}

// environ is what the programs of a loop get: not what opens the bus, or an agent could
// tell all workers what to run.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "RALPH_TOKEN=") })
}

// run runs a program in a folder. The error has its last words.
func run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay, cmd.Env = dir, time.Second, environ()
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.TrimSpace(string(out))
	return fmt.Errorf("%w: %s", err, words[max(len(words)-maxSetupWords, 0):])
}

// checkpoint makes a bundle of what the checkout has beyond the task's commit.
func (c *checkouts) checkpoint(ctx context.Context, r Record, tree string) (bundle string, err error) {
	g := c.git(tree)
	index := filepath.Join(tree, ".git", "ralph-fleet-index")
	defer os.Remove(index)
	private := g
	private.Env = append(private.Env[:len(private.Env):len(private.Env)], "GIT_INDEX_FILE="+index)
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "--all", "--", "."}} {
		if _, err := private.Run(ctx, nil, args...); err != nil {
			return "", err
		}
	}
	made, err := private.Run(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	g.Env = append(g.Env, identity...)
	commit, err := g.Run(ctx, []byte(r.Name+"\n"), "commit-tree", strings.TrimSpace(string(made)), "-p", "HEAD")
	if err != nil {
		return "", err
	}
	if _, err := g.Run(ctx, nil, "update-ref", workRef, strings.TrimSpace(string(commit))); err != nil {
		return "", err
	}
	bundle = filepath.Join(filepath.Dir(tree), "bundle")
	_, err = g.Run(ctx, nil, "bundle", "create", "--quiet", bundle, "--glob=refs/ralph/*", workRef, "^"+r.Base)
	return bundle, err
}

// identity is who made the commits of checkpoints. What is fetched is made anew, by its user.
var identity = []string{
	"GIT_AUTHOR_NAME=ralph-fleet", "GIT_AUTHOR_EMAIL=ralph-fleet@localhost", "GIT_COMMITTER_NAME=ralph-fleet", "GIT_COMMITTER_EMAIL=ralph-fleet@localhost",
}

// committed says that the checkout has what an attempt came to, which counts now.
func (c *checkouts) committed(r Record) error {
	return os.WriteFile(c.marker(r), []byte(strconv.Itoa(r.Committed)), 0o600)
}

// remove takes away what the worker has of a loop.
func (c *checkouts) remove(r Record) error { return os.RemoveAll(filepath.Dir(c.tree(r))) }

// download fetches a file from the bus. The caller removes it.
func (c *checkouts) download(ctx context.Context, name string) (path string, err error) {
	from, err := c.bus.File(ctx, name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	defer from.Close()
	f, err := os.CreateTemp(c.dir, "download-*")
	if err != nil {
		return "", err
	}
	if _, err = io.Copy(f, from); err != nil {
		f.Close()
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), f.Close()
}
