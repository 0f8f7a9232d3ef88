package worktree

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// objects is git where it makes commits and trees that no branch has, and compares them.
type objects struct {
	git.Git
	sign []string // arguments by which commits are signed; nil: they aren't
}

// signs has commits signed where the user's are.
func (o *objects) signs(ctx context.Context) {
	if signs, _ := o.Text(ctx, nil, "config", "--type=bool", "commit.gpgSign"); signs == "true" {
		o.sign = []string{"-S"}
	}
}

// as is git with variables of its environment, such as an author.
func (o objects) as(env ...string) objects { return objects{o.With(env...), o.sign} }

// commitInName makes a commit in the user's name.
func (o objects) commitInName(ctx context.Context, tree, message string, parents ...string) (string, error) {
	if err := knowsWho(ctx, o.Git); err != nil {
		return "", err
	}
	return o.commit(ctx, tree, message, parents...)
}

// commit makes a commit.
func (o objects) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := append([]string{"commit-tree"}, o.sign...)
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	made, err := o.Text(ctx, []byte(strings.TrimRight(message, "\n")+"\n"), append(args, tree)...)
	if err != nil && len(o.sign) > 0 {
		return "", refuse(ReasonUnsigned, "commit.gpgSign is set, and "+err.Error(), "unlock your key, then land again")
	}
	return made, err
}

// knowsWho says whether git knows whose commit it would make.
func knowsWho(ctx context.Context, g git.Git) error {
	if !g.KnowsUser(ctx) {
		return refuse(ReasonNobody, git.Nobody, git.IntroduceYourself+", then land again")
	}
	return nil
}

func (o objects) messageOf(ctx context.Context, commit string) (string, error) {
	return o.Text(ctx, nil, "log", "-1", "--format=%B", commit)
}

func (o objects) isIn(ctx context.Context, commit, of string) (bool, error) {
	return o.Yes(ctx, "merge-base", "--is-ancestor", commit, of)
}

func (o objects) isTreeOf(ctx context.Context, tree, commit string) bool {
	own, err := o.Text(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	return err == nil && own == tree
}

// nobody are the author and the committer of commits that nobody gets to see.
var nobody = []string{
	"GIT_AUTHOR_NAME=ralph-lsp", "GIT_AUTHOR_EMAIL=ralph-lsp@localhost",
	"GIT_COMMITTER_NAME=ralph-lsp", "GIT_COMMITTER_EMAIL=ralph-lsp@localhost",
}

// pick makes the tree of what changed between two commits on top of a third, as merge does. Git looks for the base itself,
// so it is shown one.
func (o objects) pick(ctx context.Context, onto, base, commit string) (tree string, conflicts []InTheWay, err error) {
	as, err := o.With(nobody...).Text(ctx, nil, "commit-tree", "-m", "onto", "-p", base, onto+"^{tree}")
	if err != nil {
		return "", nil, err
	}
	return o.merge(ctx, as, commit)
}

// merge merges two commits to a tree, "" where they conflict.
func (o objects) merge(ctx context.Context, ours, theirs string) (tree string, conflicts []InTheWay, err error) {
	out, err := o.Run(ctx, nil, "merge-tree", "--write-tree", "--name-only", "-z", ours, theirs)
	words := git.Fields(out)
	switch {
	case err != nil && git.ExitCode(err) != 1:
		return "", nil, err
	case len(words) == 0:
		return "", nil, cmp.Or(err, errors.New("git merge-tree printed nothing"))
	case err == nil:
		return words[0], nil, nil
	}
	return "", conflictsIn(words[1:]), nil
}

// kinds are git's words for conflicts, and ours.
var kinds = map[string]string{
	"CONFLICT (contents)":            "both changed the same lines",
	"CONFLICT (modify/delete)":       "one changed it, the other deleted it",
	"CONFLICT (rename/rename)":       "both renamed it",
	"CONFLICT (rename/delete)":       "one renamed it, the other deleted it",
	"CONFLICT (file/directory)":      "it is a file here and a folder there",
	"CONFLICT (binary)":              "both changed it, and it is no text",
	"CONFLICT (submodule)":           "both moved the submodule",
	"CONFLICT (distinct modes)":      "it is of another kind here than there",
	"CONFLICT (directory rename)":    "one renamed its folder",
	"CONFLICT (submodule may have)":  "both moved the submodule",
	"CONFLICT (submodule not found)": "both moved the submodule",
}

// conflictsIn reads what git merge-tree -z says behind the tree: paths, an empty
// field, and messages of a count, so many paths, a kind and a text.
func conflictsIn(words []string) []InTheWay {
	end := max(slices.Index(words, ""), 0)
	if end == 0 {
		end = len(words)
	}
	why := map[string]string{}
	for rest := words[min(end+1, len(words)):]; len(rest) > 0; {
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 0 || len(rest) < n+3 {
			break
		}
		if kind := rest[n+1]; strings.HasPrefix(kind, "CONFLICT") {
			for _, path := range rest[1 : n+1] {
				why[path] = cmp.Or(kinds[kind], "both changed it")
			}
		}
		rest = rest[n+3:]
	}
	var found []InTheWay
	for _, path := range words[:end] {
		found = append(found, InTheWay{path, cmp.Or(why[path], "both changed it")})
	}
	slices.SortFunc(found, func(a, b InTheWay) int { return cmp.Compare(a.Path, b.Path) })
	return found
}
