package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ralph-lsp/internal/git"
)

// Fetch puts what a loop has done into a repository, as branch ralph/<name>, and returns
// the branch. Nothing else there changes; a branch of that name with other work stays, and
// this one gets a number.
func Fetch(ctx context.Context, bus Bus, r Record, repo string) (branch string, err error) {
	if r.Committed == 0 {
		return "", fmt.Errorf("%s: no iteration of it has ended yet", r.ID)
	}
	program, err := git.Find()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "ralph-fleet-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	c := &checkouts{dir: dir, bus: bus, program: program}
	bundle, err := c.download(ctx, r.CheckpointFile(r.Committed))
	if err != nil {
		return "", err
	}
	g := Fetcher(program, repo)
	tmp := "refs/ralph-fleet/" + r.ID
	defer g.Run(context.WithoutCancel(ctx), nil, "update-ref", "-d", tmp)
	if _, err := g.Run(ctx, nil, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags", bundle, "+"+workRef+":"+tmp); err != nil {
		return "", fmt.Errorf("%s: %w: is %s the repository that was submitted?", r.ID, err, filepath.Base(repo))
	}
	commit, err := remake(ctx, g, r, tmp)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		branch = "ralph/" + r.Name
		if n > 1 {
			branch = fmt.Sprintf("ralph/%s-%d", r.Name, n)
		}
		if out, err := g.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err == nil {
			if strings.TrimSpace(string(out)) == commit {
				return branch, nil
			}
			continue
		}
		_, err := g.Run(ctx, nil, "update-ref", "refs/heads/"+branch, commit, strings.Repeat("0", len(commit)))
		return branch, err
	}
}

// remake makes of a checkpoint a commit of the user's: the agent's own commits as they are,
// and what it left uncommitted as one behind them. The same checkpoint gives the same commit.
func remake(ctx context.Context, g git.Git, r Record, checkpoint string) (string, error) {
	text := func(args ...string) (string, error) {
		out, err := g.Run(ctx, nil, args...)
		return strings.TrimSpace(string(out)), err
	}
	tree, err := text("rev-parse", checkpoint+"^{tree}")
	if err != nil {
		return "", err
	}
	parent, err := text("rev-parse", checkpoint+"^")
	if err != nil {
		return "", err
	}
	if has, err := text("rev-parse", parent+"^{tree}"); err == nil && has == tree {
		return parent, nil // it has committed all itself
	}
	at := fmt.Sprintf("%d +0000", r.UpdatedAt.Unix())
	g.Env = append(g.Env[:len(g.Env):len(g.Env)], "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := g.Run(ctx, []byte(messageOf(r)), "commit-tree", tree, "-p", parent)
	return strings.TrimSpace(string(out)), err
}

// messageOf is the message of a loop's commit.
func messageOf(r Record) string {
	return fmt.Sprintf("%s\n\n%s\n", r.Name, r.Text)
}
