package worktree

import (
	"os"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// landPatience is how long one git may take: a huge checkout is slow, and a
// question about a key waits for its user.
const landPatience = 10 * time.Minute

// openCheckout is git in a work tree, in the name of its user. No hook runs: a branch that lands may have
// brought them.
func openCheckout(dir string) (git.Git, error) {
	program, err := git.Find()
	g := git.Git{Program: program, Dir: dir, Patience: landPatience,
		Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Settings: []string{
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
	return g, err
}
