package worktree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// branch makes a branch of another machine's: a commit on top of the user's that writes files, from pairs.
func (w *work) branch(name string, pairs ...string) Tree {
	w.Helper()
	base := strings.TrimSpace(w.git("rev-parse", "HEAD"))
	w.git("switch", "-q", "-c", "ralph/"+name)
	for i := 0; i < len(pairs); i += 2 {
		w.write("app/"+pairs[i], pairs[i+1])
		w.git("add", "--", pairs[i])
	}
	w.git("commit", "-qm", "work of "+name)
	w.git("switch", "-q", "main")
	return Tree{Path: w.repo + "/.git/none/" + name, Branch: "ralph/" + name, Repo: w.repo, Base: base}
}

// says is how a row ended: the branches that landed, and why others didn't.
func (r Row) says() string {
	var all []string
	for _, done := range r.Landed {
		all = append(all, strings.TrimPrefix(done.Branch, "ralph/"))
	}
	text := strings.Join(all, " ")
	for _, refused := range r.Refused {
		text += "\n" + refused.Error()
	}
	return text
}

func TestBranchesLandInARow(t *testing.T) {
	const merge = ": shared; %slet a loop do it: ralph-lsp run --worktree=ralph/%s 'Merge main, solve the conflicts, and commit', then ralph-lsp land ralph/%[2]s"
	conflicts := func(before, name string) string { return fmt.Sprintf(merge, before, name) }
	for name, tt := range map[string]struct {
		user   func(w *work)
		want   string
		reflog string
	}{
		"two of one place": {func(*work) {}, "one same other\nralph/two and ralph/one changed the same places" + conflicts("when that has landed, ", "two"), "one and 1 more"},
		"the user's own place": {func(w *work) {
			w.write("app/shared", "the user's\n")
			w.git("add", "-A")
			w.git("commit", "-qm", "mine")
		},
			"other\nralph/one and main changed the same places" + conflicts("", "one") +
				"\nralph/two and main changed the same places" + conflicts("", "two") +
				"\nralph/same and main changed the same places" + conflicts("", "same"), "other"},
		"what the user hasn't committed": {func(w *work) { w.write("app/more", "the user's\n") },
			"one same\nralph/two and ralph/one changed the same places" + conflicts("when that has landed, ", "two") +
				"\nlanding ralph/other would touch what isn't committed in REPO: more; commit or move it (git -C REPO stash -u), then land again", "one"},
	} {
		ways := []How{HowMerge}
		if name == "two of one place" {
			ways = append(ways, HowSquash, HowRebase)
		}
		for _, how := range ways {
			t.Run(name+"/"+string(how), func(t *testing.T) {
				w := newWork(t)
				trees := []Tree{w.branch("one", "shared", "1\n"), w.branch("two", "shared", "2\n"), w.branch("same", "shared", "1\n"), w.branch("other", "more", "3\n")}
				tt.user(w)
				photo, before := w.photo(), w.git("rev-parse", "HEAD")
				want := strings.ReplaceAll(tt.want, "REPO", w.repo)
				row := func(o LandOptions, some bool) Row {
					o.How = how
					row, err := LandRow(t.Context(), trees, o, some)
					w.must(err)
					return row
				}
				if got := row(LandOptions{DryRun: true}, true).says(); got != want || w.git("rev-parse", "HEAD") != before {
					t.Errorf("a dry run says %s\nwant %s", got, want)
				}
				if got := row(LandOptions{}, false).says(); got != strings.TrimLeft(want, "abcdefghijklmnopqrstuvwxyz ") {
					t.Errorf("of all or none, %s", got)
				}
				if w.photo() != photo {
					t.Error("something has changed where nothing landed")
				}
				landed := row(LandOptions{}, true)
				if got := landed.says(); got != want {
					t.Errorf("landing says %s\nwant %s", got, want)
				}
				if last := landed.Landed[len(landed.Landed)-1]; strings.TrimSpace(w.git("rev-parse", "HEAD")) != last.Commit {
					t.Errorf("main isn't at %s", last.Commit)
				}
				if reflog := w.git("reflog", "-1", "--format=%gs"); reflog != "ralph-lsp land ralph/"+tt.reflog+": Fast-forward\n" {
					t.Errorf("the reflog says %q", reflog)
				}
				isThere := w.git("ls-tree", "--name-only", "HEAD", "more") != ""
				if lands := slices.ContainsFunc(landed.Landed, func(l Landed) bool { return l.Branch == "ralph/other" }); lands != isThere {
					t.Errorf("the commit has the file of ralph/other: %v", isThere)
				}
				if refs := w.git("for-each-ref", "--format=%(refname)", "refs/ralph", "refs/heads/ralph"); strings.Count(refs, "refs/heads/ralph/") != 4 || strings.Contains(refs, "refs/ralph/") {
					t.Errorf("refs: %s", refs)
				}
				again := row(LandOptions{}, true)
				if slices.ContainsFunc(again.Landed, func(l Landed) bool { return !l.Already }) {
					t.Errorf("what has landed lands again: %+v", again.Landed)
				}
			})
		}
	}
}

func TestARowThatCannotBegin(t *testing.T) {
	w := newWork(t)
	trees := []Tree{w.branch("one", "more", "1\n"), w.branch("two", "others", "2\n")}
	w.git("switch", "-q", "ralph/two")
	two := w.git("rev-parse", "HEAD")
	_, err := LandRow(t.Context(), trees, LandOptions{}, true)
	if err == nil || err.Error() != w.repo+" is on the loop's own branch ralph/two; git -C "+w.repo+" switch BRANCH, then land again" {
		t.Error(err)
	}
	if w.git("rev-parse", "HEAD") != two {
		t.Error("a loop's branch has what others did")
	}
	w.git("switch", "-q", "--detach")
	if _, err := LandRow(t.Context(), trees, LandOptions{}, true); err == nil || !strings.Contains(err.Error(), "is on no branch") {
		t.Error(err)
	}
	w.git("switch", "-q", "main")
	w.git("branch", "-qD", "ralph/two")
	if _, err := LandRow(t.Context(), trees, LandOptions{}, true); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if row, err := LandRow(t.Context(), nil, LandOptions{}, true); err != nil || row.says() != "" {
		t.Errorf("of none: %s, %v", row.says(), err)
	}
}

// commitOn adds a commit to a branch that writes a file.
func (w *work) commitOn(name, path, text string) {
	w.Helper()
	w.git("switch", "-q", "ralph/"+name)
	w.write("app/"+path, text)
	w.git("add", "--", path)
	w.git("commit", "-qm", "more of "+name)
	w.git("switch", "-q", "main")
}

func TestARowNamesTheBranchThatIsInTheWay(t *testing.T) {
	long := strings.Repeat("a line\n", 20)
	for name, tt := range map[string]struct {
		rows func(w *work) []Tree
		with map[How]string
	}{
		"the middle commit of three": {func(w *work) []Tree {
			trees := []Tree{w.branch("far", "far", "1\n"), w.branch("one", "shared", "1\n"), w.branch("near", "near", "1\n"), w.branch("two", "first", "2\n")}
			w.commitOn("two", "shared", "2\n")
			w.commitOn("two", "shared", "1\n") // a merge has no conflict by now
			return trees
		}, map[How]string{HowMerge: "", HowSquash: "", HowRebase: "one"}},
		"one that is in already": {func(w *work) []Tree {
			trees := []Tree{w.branch("in", "shared", "1\n")}
			w.git("merge", "-q", "ralph/in")
			return append(trees, w.branch("one", "shared", "2\n"), w.branch("two", "shared", "3\n"))
		}, map[How]string{HowMerge: "one", HowSquash: "one", HowRebase: "one"}},
		"the second of two that changed the file": {func(w *work) []Tree {
			w.write("app/long", long)
			w.git("add", "-A")
			w.git("commit", "-qm", "long")
			return []Tree{
				w.branch("top", "long", "top\n"+long), w.branch("end", "long", long+"end\n"),
				w.branch("other", "more", "1\n"), w.branch("two", "long", long+"another end\n"),
			}
		}, map[How]string{HowMerge: "end", HowSquash: "end", HowRebase: "end"}},
		"one that renamed it": {func(w *work) []Tree {
			w.write("app/long", long)
			w.git("add", "-A")
			w.git("commit", "-qm", "long")
			trees := []Tree{w.branch("other", "more", "1\n"), w.branch("moves", "gone", "1\n"), w.branch("two", "long", long+"end\n")}
			w.git("switch", "-q", "ralph/moves")
			w.git("mv", "long", "moved")
			w.commitOn("moves", "moved", long+"another end\n")
			return trees
		}, map[How]string{HowMerge: "moves", HowSquash: "moves", HowRebase: "moves"}},
	} {
		for how, with := range tt.with {
			t.Run(name+"/"+string(how), func(t *testing.T) {
				w := newWork(t)
				row, err := LandRow(t.Context(), tt.rows(w), LandOptions{How: how, DryRun: true}, true)
				w.must(err)
				want := ""
				if with != "" {
					want = "ralph/two and ralph/" + with + " changed the same places"
				}
				got := ""
				for _, refused := range row.Refused {
					got += refused.Text
				}
				if got != want {
					t.Errorf("refused: %q, want %q", got, want)
				}
			})
		}
	}
}
