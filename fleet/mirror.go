package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// fetching is how long git may take to fetch.
const fetching = 10 * time.Minute

// Fetcher is git that may fetch: what the user named, as the user, whose environment says how. It asks nobody, and
// takes no program for a transport.
func Fetcher(dir string) (git.Git, error) {
	program, err := git.Find()
	return git.Git{Program: program, Dir: dir, Patience: fetching,
		Settings: []string{"protocol.allow=always", "safe.bareRepository=all", "core.autocrlf=false", "submodule.recurse=false",
			"fetch.recurseSubmodules=false", "fetch.unpackLimit=1", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60"},
		Env: []string{"GIT_ALLOW_PROTOCOL=file:https:ssh:http:git", "GIT_LFS_SKIP_SMUDGE=1"}, AsUser: true}, err
}

// remote is g for a repository elsewhere. ssh asks nothing either, unless the user says how it is run.
func remote(ctx context.Context, g git.Git) git.Git {
	if how, err := g.Text(ctx, nil, "config", "core.sshCommand"); (err != nil || how == "") &&
		g.Given("GIT_SSH_COMMAND")+g.Given("GIT_SSH") == "" {
		return g.With("GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ServerAliveInterval=15")
	}
	return g
}

// mirrorDir is where the worker has its copy of a task's repository.
func (c *checkouts) mirrorDir(t Task) string {
	sum := sha256.Sum256([]byte(t.Repo))
	return filepath.Join(c.dir, "repos", fmt.Sprintf("%s-%x.git", Slug(t.Repo), sum[:6]))
}

// mirror lets use have the worker's copy of the task's repository, if that works as it is; else once the
// task's commit is fetched into it. A copy that is of no use is made anew.
func (c *checkouts) mirror(ctx context.Context, r Record, use func(dir string) error) error {
	dir := c.mirrorDir(r.Task)
	lock := c.lockOf(dir)
	try := func() error {
		lock.RLock()
		defer lock.RUnlock()
		now := time.Now()
		os.Chtimes(dir, now, now) // it is the one used last
		return use(dir)
	}
	_, problem := os.Lstat(dir)
	isNew := errors.Is(problem, fs.ErrNotExist)
	if !isNew {
		if err := try(); err == nil || ctx.Err() != nil {
			return err
		}
	}
	lock.Lock()
	problem = c.fill(ctx, r, dir)
	lock.Unlock()
	if problem == nil {
		problem = try()
	}
	if problem == nil || isNew || ctx.Err() != nil {
		return problem
	}
	lock.Lock()
	defer lock.Unlock()
	anew := dir + ".new"
	defer os.RemoveAll(anew)
	if err := errors.Join(os.RemoveAll(anew), c.fill(ctx, r, anew), os.RemoveAll(dir), os.Rename(anew, dir)); err != nil {
		return problem
	}
	return use(dir)
}

func (c *checkouts) lockOf(dir string) *sync.RWMutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.repos[dir] == nil {
		c.repos[dir] = new(sync.RWMutex)
	}
	return c.repos[dir]
}

// fill fetches the task's commit into a copy of its repository.
func (c *checkouts) fill(ctx context.Context, r Record, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock(dir)
	g := c.git(dir)
	if _, err := g.Run(ctx, nil, "init", "--quiet", "--bare", "--template="); err != nil {
		return err
	}
	has := func() bool {
		_, err := g.Run(ctx, nil, "cat-file", "-e", r.Base+"^{commit}")
		return err == nil
	}
	if has() {
		return nil
	}
	ref := "refs/ralph-fleet/" + r.Base
	if r.Bundled {
		bundle, err := c.download(ctx, r.RepoFile())
		if err != nil {
			return err
		}
		defer os.Remove(bundle)
		if _, err := g.Run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", bundle, "+"+bundledRef+":"+ref); err != nil {
			return err
		}
	} else if err := fetchCommit(ctx, remote(ctx, g), r, ref); err != nil {
		return err
	}
	if !has() {
		return fmt.Errorf("it doesn't have the commit %s", r.Base)
	}
	return nil
}

// fetchCommit fetches the task's commit alone; from a server that doesn't give away what
// it wasn't asked for by name, all that has a name.
func fetchCommit(ctx context.Context, g git.Git, r Record, ref string) error {
	_, problem := g.Run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", r.Repo, "+"+r.Base+":"+ref)
	if problem == nil || ctx.Err() != nil {
		return problem
	}
	_, err := g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", "--", r.Repo, "+refs/*:refs/remotes/origin/*")
	return err
}

// unlock removes from a copy of a repository what a git has left there that was killed:
// none is at work.
func unlock(dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
		case d.IsDir() && filepath.Base(filepath.Dir(path)) == "objects" && len(name) == 2:
			return fs.SkipDir // nothing is locked among loose objects
		case !d.IsDir() && (strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_")):
			os.Remove(path)
		}
		return nil
	})
}

// linkAll makes a folder with the files of another one: links, or copies where the disk has no links.
func linkAll(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		other := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(other, 0o700)
		}
		return os.Link(path, other)
	})
	if err == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from)))
}
