package worktree

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// checkout is git in one work tree, in the name of its user.
type checkout struct{ git git.Git }

// landPatience is how long one git may take: a huge checkout is slow, and a
// question about a key waits for its user.
const landPatience = 10 * time.Minute

// openCheckout is git in a folder. No hook runs: a branch that lands may have
// brought them.
func openCheckout(dir string) (checkout, error) {
	program, err := git.Find()
	g := git.Git{Program: program, Dir: dir, Patience: landPatience, Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Settings: []string{
		"submodule.recurse=false", "merge.autoStash=false", "merge.verifySignatures=false",
		"i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8",
	}}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
		if strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_") {
			if !strings.HasSuffix(name, "_DATE") {
				g.Env = append(g.Env, kv)
			}
		}
	}
	return checkout{g}, err
}

// in is g in another work tree.
func (g checkout) in(dir string) checkout {
	g.git.Dir = dir
	return g
}

// with is g with more in its environment.
func (g checkout) with(env ...string) checkout {
	g.git.Env = slices.Concat(g.git.Env, env)
	return g
}

func (g checkout) run(ctx context.Context, stdin string, args ...string) (string, error) {
	out, err := g.git.Run(ctx, []byte(stdin), args...)
	return string(out), err
}

// line is what git prints in one line.
func (g checkout) line(ctx context.Context, args ...string) (string, error) {
	return g.git.Text(ctx, nil, args...)
}

// yes says whether git says so by its exit code. Only 1 is a no.
func (g checkout) yes(ctx context.Context, args ...string) (bool, error) {
	_, err := g.git.Run(ctx, nil, args...)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// list is what git prints with -z.
func (g checkout) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.git.Run(ctx, nil, args...)
	return git.Fields(out), err
}
