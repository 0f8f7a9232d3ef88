package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Snapshots implements service.Remote: those of the loop's last checkpoint, fetched into a repository of the loop's own.
func (c *Client) Snapshots(ctx context.Context, id string) (*changes.Store, string, error) {
	r, bus, err := c.record(id)
	if err != nil {
		return nil, "", err
	}
	if r.Committed == 0 {
		return nil, "", fmt.Errorf("%w: no iteration of the loop has ended yet", changes.ErrNone)
	}
	c.fetching.Lock()
	defer c.fetching.Unlock()
	folder := c.folder(r.ID)
	home := filepath.Join(folder, "changes")
	has, err := regular.Read(filepath.Join(home, "attempt"), regular.Short)
	if err == nil && !hasCommits(ctx, filepath.Join(home, "git"), r.Base)[r.Base] { // the clone that it was taken from has moved, say
		os.RemoveAll(home) // what stays says so when it is fetched anew
		has = nil
	}
	if string(has) != strconv.Itoa(r.Committed) {
		if err := c.fetchSnapshots(ctx, bus, r, home); err != nil {
			return nil, "", err
		}
	}
	s, err := changes.Open(home)
	return s, folder, err
}

// fetchSnapshots fetches the snapshots of a loop's last checkpoint.
func (c *Client) fetchSnapshots(ctx context.Context, bus fleet.Bus, r fleet.Record, home string) error {
	repo := filepath.Join(home, "git")
	g, err := fleet.Fetcher(repo)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(repo, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(repo, "HEAD")); err != nil {
		if _, err := g.Run(ctx, nil, "init", "--quiet", "--bare"); err != nil {
			return err
		}
	}
	if err := c.fetchBase(ctx, bus, g, r); err != nil {
		return err
	}
	bundle, err := fleet.Download(ctx, bus, r.CheckpointFile(r.Committed), home)
	if err != nil {
		return err
	}
	defer os.Remove(bundle)
	if _, err := g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags", bundle, "+refs/ralph/*:refs/ralph/*"); err != nil {
		return err
	}
	if err := changes.Adopt(ctx, home, filepath.Dir(home), repo, r.ID); err != nil {
		return err
	}
	return regular.Write(filepath.Join(home, "attempt"), []byte(strconv.Itoa(r.Committed)), 0o600)
}

// fetchBase gets the commit that the loop began with: from the repository of its origin, or
// from the bus.
func (c *Client) fetchBase(ctx context.Context, bus fleet.Bus, g git.Git, r fleet.Record) error {
	has := func() bool { return hasCommits(ctx, g.Dir, r.Base)[r.Base] }
	if has() {
		return nil
	}
	if origin := c.origins.find(r, c.folders()); origin != "" {
		if objects, err := g.In(origin).Text(ctx, nil, "rev-parse", "--git-path", "objects"); err == nil {
			if !filepath.IsAbs(objects) {
				objects = filepath.Join(origin, objects)
			}
			if err := regular.Write(filepath.Join(g.Dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600); err != nil {
				return err
			}
			if has() {
				return nil
			}
		}
	}
	if !r.Bundled {
		return &wire.Failure{Reason: wire.ReasonNoSnapshots, Err: fmt.Errorf("what it changed is kept as differences to a "+
			"commit of %s: open a clone of that which has %.12s, or fetch the loop's branch into one (ralph-fleet fetch)", r.Repo, r.Base)}
	}
	bundle, err := fleet.Download(ctx, bus, r.RepoFile(), filepath.Dir(g.Dir))
	if err != nil {
		return err
	}
	defer os.Remove(bundle)
	_, err = g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags", bundle, "+refs/heads/*:refs/base/*")
	return err
}

// Fetch implements service.Remote.
func (c *Client) Fetch(ctx context.Context, id string) (fetched answers.FetchResult, err error) {
	r, bus, err := c.record(id)
	if err != nil {
		return fetched, err
	}
	origin := c.origins.find(r, c.folders())
	if origin == "" {
		return fetched, &wire.Failure{Reason: wire.ReasonNoFolder, Err: fmt.Errorf("no open folder is the repository %s and "+
			"has its commit %.12s: open it, fetch there with git, or run ralph-fleet fetch %s --into FOLDER", r.Repo, r.Base, r.Name)}
	}
	if r.Committed == 0 {
		return fetched, &wire.Failure{Reason: wire.ReasonNoSnapshots,
			Err: errors.New("there is nothing to fetch: no iteration of the loop has ended yet")}
	}
	branch, err := fleet.Fetch(ctx, bus, r, origin)
	return answers.Fetched(branch), err
}
