package worktree

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// ownBranches begins the names of branches that are made for loops.
const ownBranches = "ralph/"

// IsNamed says whether a loop's user means the one on a branch: its whole name, or what is
// behind ralph/.
func IsNamed(branch, name string) bool {
	return name != "" && (name == branch || name == strings.TrimPrefix(branch, ownBranches))
}

// maxSlug is how long a name made of a title is at most, in bytes.
const maxSlug = 40

// Slug makes of a title a name that branches and folders may have. A long one ends behind a word.
func Slug(title string) string {
	isPart := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	slug := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return !isPart(c) }) {
		if slug == "" {
			slug = upTo(maxSlug, word)
		} else if slug += "-" + word; len(slug) > maxSlug {
			return slug[:len(slug)-len(word)-1]
		}
	}
	return cmp.Or(slug, "loop")
}

// upTo is the beginning of a text in whole runes, at most so many bytes.
func upTo(most int, text string) string {
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// most is how many trees may have the same title.
const most = 1000

// choose decides what a tree is called, and what it begins with.
func (r repo) choose(ctx context.Context, o Options) (record, error) {
	rec := record{Common: r.common, Tree: Tree{Repo: r.top}}
	head, err := r.git.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil && git.ExitCode(err) == 1 {
		return rec, &Error{fmt.Sprintf("%s has no commit yet, and a worktree begins with one", r.top),
			"make a first commit, or leave --worktree out"}
	} else if err != nil {
		return rec, &Error{err.Error(), "mend the repository, or leave --worktree out"}
	}
	rec.Base, rec.Made = head, true
	if o.WithChanges && r.bare {
		return rec, &Error{"a bare repository has no files of yours", "leave --with-changes out"}
	}
	if o.Commit && !r.git.KnowsUser(ctx) {
		return rec, &Error{git.Nobody, git.IntroduceYourself + ", or leave --commit out"}
	}
	place := r.place(o.Place)
	if o.Branch != "" {
		return r.chooseNamed(ctx, rec, o, place)
	}
	slug, prefix := Slug(o.Title), ownBranches
	if r.hasBranch(ctx, "ralph") { // there can be nothing below it
		prefix = "ralph-"
	}
	for n := 1; n < most; n++ {
		rec.name(place, numbered(slug, n))
		rec.Branch = prefix + numbered(slug, n)
		if rec.isFree() && !r.hasBranch(ctx, rec.Branch) {
			return rec, nil
		}
	}
	return rec, &Error{fmt.Sprintf("%s has %d trees of that name", place, most), "land or discard some, or name a branch"}
}

// chooseNamed does so for a branch that the user named.
func (r repo) chooseNamed(ctx context.Context, rec record, o Options, place string) (record, error) {
	rec.Branch = o.Branch
	if _, err := r.git.Run(ctx, nil, "check-ref-format", "--branch", o.Branch); err != nil || strings.HasPrefix(o.Branch, "@{") {
		return rec, &Error{fmt.Sprintf("no branch can be called %q", o.Branch), "name another, such as ralph/" + Slug(o.Branch)}
	}
	if rec.Made = !r.hasBranch(ctx, o.Branch); !rec.Made {
		if o.WithChanges {
			return rec, &Error{fmt.Sprintf("the branch %s exists, and --with-changes needs a new one", o.Branch),
				"name another, or leave --with-changes out"}
		}
		if at := checkedOut(ctx, r.git, o.Branch); len(at) > 0 {
			return rec, &Error{fmt.Sprintf("the branch %s is checked out in %s", o.Branch, at[0]), "name another, or work there"}
		}
		tip, err := r.git.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+o.Branch+"^{commit}")
		if err != nil {
			return rec, &Error{fmt.Sprintf("the branch %s has no commit", o.Branch), "name another"}
		}
		rec.Base = tip
	}
	slug := Slug(strings.TrimPrefix(o.Branch, ownBranches))
	for n := 1; n < most; n++ {
		if rec.name(place, numbered(slug, n)); rec.isFree() {
			return rec, nil
		}
	}
	return rec, &Error{fmt.Sprintf("%s has %d trees of that name", place, most), "land or discard some, or name another branch"}
}

func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// name says where a tree is, and git's folder for it.
func (rec *record) name(place, id string) {
	rec.ID, rec.Path = id, filepath.Join(place, id)
	rec.Admin = rec.admin()
}

// isFree says whether nothing is where the tree would be.
func (rec *record) isFree() bool {
	return !exists(rec.Path) && !exists(rec.admin()) && !exists(rec.file())
}

func (r repo) hasBranch(ctx context.Context, name string) bool {
	_, err := r.git.Run(ctx, nil, "show-ref", "--verify", "--quiet", "refs/heads/"+name)
	return err == nil
}

// checkedOut are the work trees that have a branch checked out.
func checkedOut(ctx context.Context, g git.Git, branch string) (trees []string) {
	out, _ := g.Run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	at := ""
	for _, line := range git.Fields(out) {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			at = path
		}
		if line == "branch refs/heads/"+branch {
			trees = append(trees, at)
		}
	}
	return trees
}
