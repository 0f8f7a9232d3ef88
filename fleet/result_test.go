package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// runs lets the loop run an iteration in which the agent does something.
func (w *works) iteration(r Record, does string) Record {
	w.t.Helper()
	w.write("log.pauses", "")
	w.write("log.does", does)
	if r.Phase == Paused {
		if err := handle(w.t, w.bus, r).Resume(loop.Patch{}); err != nil {
			w.t.Fatal(err)
		}
	}
	before := r.Committed
	return w.until(r, func(r Record) bool { return r.Committed > before && r.Phase != Running })
}

const commits = `; git add -A; git -c user.name=Agent -c user.email=a@x commit -q -m "$n"`

func (w *works) isUser() {
	w.git("-C", w.repo, "config", "user.name", "U")
	w.git("-C", w.repo, "config", "user.email", "u@x")
}

func TestSomebodyUnknownToGitIsToldWhatHelps(t *testing.T) {
	w := newWorks(t)
	r := w.iteration(w.submit(), "echo 1 >f")
	w.git("-C", w.repo, "config", "user.name", "")
	_, err := Fetch(t.Context(), w.bus, r, w.repo)
	if err == nil || !strings.Contains(err.Error(), "git doesn't know who you are") || !strings.HasSuffix(err.Error(), "user.email ADDRESS, then fetch again") {
		t.Errorf("it says %v", err)
	}
	if got := w.git("-C", w.repo, "for-each-ref", "refs/ralph-fleet", "refs/heads/ralph"); got != "" {
		t.Errorf("there is %s", got)
	}
}

func TestABranchGoesOnWhenItIsFetchedAgain(t *testing.T) {
	for name, does := range map[string][2]string{
		"the agent never commits":          {"echo 1 >f", "echo 2 >f"},
		"it commits all":                   {"echo 1 >f; echo 1 >count" + commits, "echo 2 >f; echo 2 >count" + commits},
		"it commits what was left":         {"echo 1 >f", "echo 2 >f; echo 2 >count" + commits},
		"it leaves something in the end":   {"echo 1 >f" + commits, "echo 2 >f"},
		"it changes nothing but its count": {":", ":"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.isUser()
			r := w.iteration(w.submit(), does[0])
			branch, err := Fetch(t.Context(), w.bus, r, w.repo)
			if err != nil {
				t.Fatal(err)
			}
			before := w.git("-C", w.repo, "rev-parse", branch)
			r = w.iteration(r, does[1])
			for range 2 {
				if again, err := Fetch(t.Context(), w.bus, r, w.repo); again != branch || err != nil {
					t.Fatalf("fetched again it is %s, %v", again, err)
				}
			}
			w.git("-C", w.repo, "merge-base", "--is-ancestor", before, branch)
			if got := w.git("-C", w.repo, "show", branch+":count"); got != "2" {
				t.Errorf("it has %q", got)
			}
			if got := w.git("-C", w.repo, "for-each-ref", "--format=%(refname)", "refs/ralph-fleet", "refs/heads/ralph"); got != "refs/heads/"+branch {
				t.Errorf("the repository has %s", got)
			}
		})
	}
}

func TestABranchOfTheUsersStays(t *testing.T) {
	tests := map[string]func(w *works, branch string){
		"that has other work": func(w *works, branch string) { w.commit("mine"); w.git("-C", w.repo, "branch", "-f", branch, "HEAD") },
		"with work behind ours": func(w *works, branch string) {
			w.git("-C", w.repo, "checkout", "-q", branch)
			w.commit("mine")
			w.git("-C", w.repo, "checkout", "-q", "-")
		},
		"that is checked out": func(w *works, branch string) { w.git("-C", w.repo, "checkout", "-q", branch) },
		"that is out elsewhere": func(w *works, branch string) {
			w.git("-C", w.repo, "worktree", "add", "-q", filepath.Join(w.dir, "elsewhere"), branch)
		},
		"that was made anew": func(w *works, branch string) {
			w.git("-C", w.repo, "branch", "-D", branch)
			w.git("-C", w.repo, "branch", branch)
		},
		"that was set back": func(w *works, branch string) { w.git("-C", w.repo, "branch", "-f", branch, branch+"^") },
	}
	for name, mine := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.isUser()
			r := w.iteration(w.submit(), "echo 1 >f")
			branch, err := Fetch(t.Context(), w.bus, r, w.repo)
			if err != nil {
				t.Fatal(err)
			}
			mine(w, branch)
			before := w.git("-C", w.repo, "rev-parse", branch) + w.git("-C", w.repo, "status", "--porcelain")
			r = w.iteration(r, "echo 2 >f")
			again, err := Fetch(t.Context(), w.bus, r, w.repo)
			if again != branch+"-2" || err != nil {
				t.Errorf("it is fetched as %s, %v", again, err)
			}
			if after := w.git("-C", w.repo, "rev-parse", branch) + w.git("-C", w.repo, "status", "--porcelain"); after != before {
				t.Errorf("the user's branch was %s, and is %s", before, after)
			}
		})
	}
}

// A list of loops may be of a server of a cluster that has just come back.
func TestWhatIsFetchedIsTheLast(t *testing.T) {
	w := newWorks(t)
	w.isUser()
	before := w.iteration(w.submit(), "")
	w.iteration(before, "")
	branch, err := Fetch(t.Context(), w.bus, before, w.repo)
	if got := w.git("-C", w.repo, "show", branch+":count"); err != nil || got != "2" {
		t.Errorf("what is fetched has counted %s runs, %v", got, err)
	}
}

func TestWhatCantBeFetched(t *testing.T) {
	w := newWorks(t)
	w.isUser()
	r := w.iteration(w.submit(), "")
	stranger := filepath.Join(w.dir, "stranger")
	w.git("init", "-q", stranger)
	for name, tt := range map[string]struct {
		r    Record
		repo string
		want string
	}{
		"another repository":  {r, stranger, "isn't the repository of one"},
		"no repository":       {r, w.dir, "isn't the repository of one"},
		"nothing done yet":    {Record{Task: Task{ID: "f1", Name: "new", Base: r.Base, Repo: "x"}}, w.repo, "no iteration of it has ended"},
		"a name that is none": {Record{Task: Task{ID: "f2", Name: "../x", Base: r.Base, Repo: "x"}, Committed: 1}, w.repo, "is no name"},
		"a loop that is gone": {Record{Task: Task{ID: "f3", Name: "gone", Base: r.Base, Repo: "x"}, Committed: 1}, w.repo, "the bus doesn't have the file"},
	} {
		if name != "a loop that is gone" {
			w.bus.Create(t.Context(), tt.r)
		}
		if branch, err := Fetch(t.Context(), w.bus, tt.r, tt.repo); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v", name, branch, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(w.repo, ".git", "refs", "ralph-fleet")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
