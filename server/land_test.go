package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// inTree is a client in whose repository a loop has worked in a worktree of its own:
// it wrote a line into log.txt.
func inTree(t *testing.T, capabilities string) (c *dialled, repo string, tree wire.Worktree, id string) {
	t.Helper()
	dir := paths.Real(t.TempDir())
	repo = filepath.Join(dir, "app")
	must.Write(t, filepath.Join(repo, "log.txt"), "begun\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Ann"}, {"config", "user.email", "ann@example.com"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		testhome.Git(t, repo, args...)
	}
	c = dial(t, optedIn, repo)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "writes"), "maxIterations": 1, "worktree": true}))
	path, err := wire.PathOf(started.Worktree.Path)
	must.OK(t, err)
	c.status(path, inState("ended"))
	if capabilities != optedIn { // the morning after
		c.hangUp()
		c = dial(t, capabilities, repo)
	}
	return c, repo, *started.Worktree, started.LoopID
}

// click runs an offer by its title.
func click[T any](c *dialled, offers []wire.Command, title string) T {
	c.t.Helper()
	i := slices.IndexFunc(offers, func(o wire.Command) bool { return o.Title == title })
	if i < 0 {
		c.t.Fatalf("no %q in %+v", title, offers)
	}
	return result[T](c, c.Command(offers[i].Command, offers[i].Arguments[0]))
}

// The end of a loop in a worktree offers to land it. What is in the way is said, and
// can be tried again.
func TestALoopLandsByWhatItsEndOffers(t *testing.T) {
	t.Parallel()
	c, repo, tree, _ := inTree(t, optedIn)
	path, _ := wire.PathOf(tree.Path)
	ended := c.status(path, inState("ended"))
	log := filepath.Join(repo, "log.txt")
	must.Write(t, log, "mine\n")
	refused := click[answers.LandResult](c, ended.Offers, "Land")
	if refused.Reason != "uncommitted" || len(refused.Refused) != 1 || refused.Refused[0].Path != "log.txt" || readFile(t, log) != "mine\n" {
		t.Errorf("%+v", refused)
	}
	testhome.Git(t, repo, "checkout", "-q", "log.txt")
	landed := click[answers.LandResult](c, refused.Offers, "Land Again")
	if !strings.HasPrefix(landed.Text, "landed 1 commit of ralph/build-x on main") || landed.Commit != strings.TrimSpace(testhome.Git(t, repo, "rev-parse", "HEAD")) {
		t.Errorf("%+v", landed)
	}
	if readFile(t, log) != "begun\nline 1\n" {
		t.Errorf("log.txt is %q", readFile(t, log))
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the worktree is still there")
	}
	c.statusWithout(path)
}

// What a loop did is read when its worktree is gone, from the folder where it was started. While
// the worktree is there, it is a folder of its own.
func TestALoopThatLandedIsInTheHistoryOfItsRepository(t *testing.T) {
	t.Parallel()
	c, repo, tree, id := inTree(t, optedIn)
	path, _ := wire.PathOf(tree.Path)
	c.status(path, inState("ended"))
	history := func() []answers.PastLoop {
		return result[answers.HistoryResult](c, c.Command(wire.CommandHistory, answers.HistoryParams{Folder: wire.FileURI(repo), Limit: 5})).Loops
	}
	if past := history(); len(past) != 0 {
		t.Errorf("before it lands: %+v", past)
	}
	landed := result[answers.LandResult](c, c.Command(wire.CommandLand, wire.LandParams{LoopParams: wire.LoopParams{LoopID: id}}))
	c.statusWithout(path)
	past := history()
	if len(past) != 1 || past[0].LoopID != id || past[0].Branch != "ralph/build-x" || past[0].LandedOn != "main" || past[0].Commit != landed.Commit ||
		!strings.HasSuffix(past[0].Text, " · ralph/build-x landed on main ("+landed.Commit[:9]+")") {
		t.Fatalf("%+v", past)
	}
	updates, page := readAll(t, c, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}})
	if log := string(slices.Concat(updates...)); !page.Complete || !strings.Contains(log, "iteration limit reached") {
		t.Errorf("its log is %s", log)
	}
}

// Another process may have landed it, or the user has removed it.
func TestALoopIsShownNoMoreWhenItsWorktreeIsGone(t *testing.T) {
	t.Parallel()
	c, repo, tree, _ := inTree(t, optedIn)
	path, _ := wire.PathOf(tree.Path)
	c.status(path, inState("ended"))
	testhome.Git(t, repo, "worktree", "remove", "--force", path)
	c.statusWithout(path)
}

// A folder that the editor has open stays, and so does what is known of its loop.
func TestALoopWhoseFolderIsOpenSaysThatItsWorktreeIsGone(t *testing.T) {
	t.Parallel()
	c, repo, tree, _ := inTree(t, optedIn)
	path, _ := wire.PathOf(tree.Path)
	c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": []any{map[string]any{"uri": tree.Path, "name": "x"}}, "removed": []any{}}})
	c.Must(c.Command(wire.CommandLand, wire.LandParams{LoopParams: wire.LoopParams{Folder: wire.FileURI(repo)}}))
	gone := c.status(path, func(l wire.LoopStatus) bool { return l.State == "ended" && len(l.Offers) == 0 })
	if i := slices.IndexFunc(gone.Details, func(d wire.Detail) bool { return d == wire.TreeIsGone }); i < 0 || len(gone.Can) > 0 {
		t.Errorf("%+v", gone)
	}
}

func TestADiscardIsAQuestionFirst(t *testing.T) {
	t.Parallel()
	c, repo, tree, id := inTree(t, optedIn)
	path, _ := wire.PathOf(tree.Path)
	question := result[answers.LandResult](c, c.Command(wire.CommandLand, wire.LandParams{LoopParams: wire.LoopParams{LoopID: id}, Discard: true}))
	if !strings.HasPrefix(question.Text, "Discard ralph/build-x? It has 2 uncommitted files (1.txt, log.txt).") {
		t.Errorf("%+v", question)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the worktree is gone before the answer")
	}
	done := click[answers.LandResult](c, question.Offers, "Discard Worktree")
	if done.Text != "discarded ralph/build-x; back with: git branch ralph/build-x refs/ralph/discarded/build-x" {
		t.Errorf("%+v", done)
	}
	if got := testhome.Git(t, repo, "show", "refs/ralph/discarded/build-x:log.txt"); got != "begun\nline 1\n" {
		t.Errorf("%q", got)
	}
	if answer := c.Command(wire.CommandLand, wire.LandParams{}); answer.Error == nil || !strings.Contains(answer.Error.Message, "no loop has a worktree") {
		t.Errorf("%+v", answer)
	}
}

func TestAPlainClientLandsAndIsAskedBeforeADiscard(t *testing.T) {
	t.Parallel()
	c, repo, tree, _ := inTree(t, plain)
	path, _ := wire.PathOf(tree.Path)
	c.answers(session.ActionLeave)
	left := result[answers.LandResult](c, c.Command(wire.CommandLand, wire.LandParams{Discard: true}))
	c.Hears("window/showMessageRequest", "Discard ralph/build-x? It has 2 uncommitted files")
	if _, err := os.Stat(path); err != nil || left.Text != "nothing was discarded" {
		t.Errorf("%+v %v", left, err)
	}
	c.Must(c.Command(wire.CommandLand, wire.LandParams{How: "squash", Message: "Mine"}))
	c.Hears("window/showMessage", "landed 1 commit of ralph/build-x on main")
	if subject := testhome.Git(t, repo, "log", "-1", "--format=%an %s"); subject != "Ann Mine\n" {
		t.Errorf("%q", subject)
	}
}
