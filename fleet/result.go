package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// fetched is what a loop has done, in a repository of the user's that has its base.
type fetched struct {
	Record
	git  git.Git
	tree string // of the files as the loop has left them
	head string // the last commit of the agent's, or the base
}

// Fetch puts what a loop has done by now into a repository, as branch ralph/<name>, and returns
// the branch. Fetched again, the branch goes on. One that anybody else made, changed or has
// checked out stays as it is, and this one gets a number. Nothing else there changes.
func Fetch(ctx context.Context, bus Bus, r Record, repo string) (branch string, err error) {
	if now, _, err := bus.Get(ctx, r.ID); err == nil { // r may be from a list, of a server that has just come back and is behind
		r = now
	} else if !errors.Is(err, ErrNotFound) { // which an earlier version says to a submitter
		return "", err
	}
	f, done, err := bring(ctx, bus, r, repo)
	if err != nil {
		return "", err
	}
	defer done()
	fresh, err := f.commit(ctx, f.head)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		branch = "ralph/" + r.Name
		if n > 1 {
			branch = fmt.Sprintf("ralph/%s-%d", r.Name, n)
		}
		tip, err := f.git.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
		switch {
		case err != nil:
			return branch, f.move(ctx, branch, fresh, strings.Repeat("0", len(fresh)))
		case tip == fresh:
			return branch, nil
		}
		if known, _ := f.git.Text(ctx, nil, "config", fetchedKey(branch)); known != r.ID+" "+tip {
			continue // it isn't ours, or not any more
		}
		next, err := f.behind(ctx, tip)
		if err != nil || next == tip {
			return branch, err
		}
		trees, err := f.git.Text(ctx, nil, "worktree", "list", "--porcelain")
		if err != nil {
			return branch, err
		}
		if !strings.Contains(trees+"\n", "\nbranch refs/heads/"+branch+"\n") {
			return branch, f.move(ctx, branch, next, tip)
		}
	}
}

// fetchedKey is where git's configuration says what a branch was when it was fetched: git
// takes that away with the branch.
func fetchedKey(branch string) string { return "branch." + branch + ".ralphFetched" }

// LoopIn returns the id of the loop whose fetched branch is checked out in a repository, and the branch; "" for any
// other branch.
func LoopIn(ctx context.Context, repo string) (id, branch string) {
	g, err := Fetcher(repo)
	if err != nil {
		return "", ""
	}
	branch, _ = g.Text(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	known, _ := g.Text(ctx, nil, "config", fetchedKey(branch))
	id, _, _ = strings.Cut(known, " ")
	return id, branch
}

func (f fetched) move(ctx context.Context, branch, to, from string) error {
	if _, err := f.git.Run(ctx, nil, "update-ref", "refs/heads/"+branch, to, from); err != nil {
		return err
	}
	_, err := f.git.Run(ctx, nil, "config", fetchedKey(branch), f.ID+" "+to)
	return err
}

// bring fetches the loop's last checkpoint. done has to be called.
func bring(ctx context.Context, bus Bus, r Record, repo string) (f fetched, done func(), err error) {
	if err := r.Check(); err != nil {
		return f, nil, err
	}
	if r.Committed == 0 {
		return f, nil, fmt.Errorf("%s: no iteration of it has ended yet", r.ID)
	}
	g, err := Fetcher(repo)
	if err != nil {
		return f, nil, err
	}
	if _, err := g.Run(ctx, nil, "cat-file", "-e", r.Base+"^{commit}"); err != nil {
		return f, nil, fmt.Errorf("%s isn't the repository of %s (%s), or hasn't fetched its commit %.12s: say where that is "+
			"with --into, or fetch there first", repo, r.Name, r.Repo, r.Base)
	}
	dir, err := os.MkdirTemp("", "ralph-fleet-*")
	if err != nil {
		return f, nil, err
	}
	defer os.RemoveAll(dir)
	bundle, err := Download(ctx, bus, r.CheckpointFile(r.Committed), dir)
	if err != nil {
		return f, nil, err
	}
	tmp := "refs/ralph-fleet/" + r.ID
	done = func() { g.Run(context.WithoutCancel(ctx), nil, "update-ref", "-d", tmp) }
	f = fetched{Record: r, git: g}
	_, err = g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags", bundle, "+"+workRef+":"+tmp)
	if err == nil {
		f.tree, err = g.Text(ctx, nil, "rev-parse", tmp+"^{tree}")
	}
	if err == nil {
		f.head, err = g.Text(ctx, nil, "rev-parse", tmp+"^")
	}
	if err == nil {
		err = f.check(ctx, filepath.Join(dir, "index"))
	}
	if err != nil {
		done()
		return f, nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	return f, done, nil
}

// check sees to it that git would make these files: a worker that lies may have a tree with a way out of a checkout,
// that other programs follow.
func (f fetched) check(ctx context.Context, index string) error {
	g := f.git.With("GIT_INDEX_FILE=" + index)
	for _, tree := range []string{f.head, f.tree} {
		if _, err := g.Run(ctx, nil, "read-tree", "--reset", tree); err != nil {
			return fmt.Errorf("what it has left can't be checked out, so it is not fetched: %w", err)
		}
	}
	return nil
}

// commit makes the files as the loop has left them a commit of the user's behind others,
// unless the only one is that already. The same gives the same commit.
func (f fetched) commit(ctx context.Context, parents ...string) (string, error) {
	if has, err := f.git.Text(ctx, nil, "rev-parse", parents[0]+"^{tree}"); err == nil && has == f.tree && len(parents) == 1 {
		return parents[0], nil
	}
	if !f.git.KnowsUser(ctx) {
		return "", errors.New(git.Nobody + "; " + git.IntroduceYourself + ", then fetch again")
	}
	args := []string{"commit-tree", f.tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	at := fmt.Sprintf("%d +0000", f.UpdatedAt.Unix())
	return f.git.With("GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at).Text(ctx, fmt.Appendf(nil, "%s\n\n%s\n", f.Name, f.Text), args...)
}

// behind is the commit with which a branch goes on that was fetched before.
func (f fetched) behind(ctx context.Context, tip string) (string, error) {
	isBehind := func(a, b string) bool {
		_, err := f.git.Run(ctx, nil, "merge-base", "--is-ancestor", a, b)
		return err == nil
	}
	switch {
	case isBehind(f.head, tip):
		return f.commit(ctx, tip)
	case isBehind(tip, f.head):
		return f.commit(ctx, f.head)
	}
	return f.commit(ctx, tip, f.head) // the agent has committed what was fetched uncommitted
}
