package reads

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/notes"
	"github.com/ralph-lsp/ralph-lsp/internal/test/filekinds"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

func TestMain(m *testing.M) { testhome.Main(m, "RALPH_TEST_ROLE", nil) }

// row is a file of a folder, and what reads it there.
type row struct {
	file  string
	needs string // that reading a pipe in its place says so in an error with the file's path
	read  func(folder, path string) error
}

const saysSo = "says so"

// rows are all that is read outside of an agent's walls.
func rows() (all []row) {
	add := func(needs string, read func(folder, path string) error, files ...string) {
		for _, file := range files {
			all = append(all, row{file, needs, read})
		}
	}
	add(saysSo, readsPlan, "PLAN.md")
	add("", writesPlan, "PLAN.md") // which puts it back
	add(saysSo, func(_, path string) error { _, err := start.ReadText(path); return err }, "PROMPT.md")
	add(saysSo, func(folder, _ string) error { _, err := config.FilesOf(folder, nil).Load(); return err }, config.Name)
	add(saysSo, loadsState, loopstate.Name)
	add("", loadsState, ".pi")
	add(saysSo, locks, ".pi/ralph-loop.local.lock")
	add("", locks, ".pi", ".pi/.gitignore")
	add("", func(folder, _ string) error { verify.Suggest(folder); return nil }, "go.mod", "package.json", "Makefile", "Cargo.toml", "pyproject.toml")
	add("", bringsAlong, ".claude/settings.json", ".mcp.json", ".pi/settings.json", ".pi/extensions/a.ts", ".claude/agents/a.md", ".claude/agents", "AGENTS.md")
	add(saysSo, agentsIn, ".claude/agents/a.md", ".pi/agents/b.md")
	add(saysSo, readsNotes, "notes.md")
	add(saysSo, func(_, path string) error { _, _, err := history.Output(path, 1, "a"); return err }, ".pi/session.jsonl")
	add("", func(_, path string) error { history.LastWords(path); return nil }, ".pi/session.jsonl")
	add("", comparesWrite, "file", "folder/file")
	add("", snapshots, ".git", ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/info/exclude", ".git/refs/heads/main",
		".gitignore", "below/.gitignore", ".gitattributes", ".gitmodules", "file", ".pi/.gitignore",
		"api/.git", "api/.git/HEAD", "api/.git/config", "api/.git/index", "api/.git/info/exclude", "api/.gitignore", "api/.gitattributes", "api/file")
	add("", worktrees, ".git", ".git/HEAD", ".git/commondir", ".git/logs/HEAD", ".git/ralph", ".git/ralph/trees.jsonl",
		".git/worktrees/tree/gitdir", ".git/worktrees/tree/ralph.json")
	add("", walls, ".git", ".git/HEAD", ".git/config", ".git/index", ".git/commondir", ".git/hooks", ".gitmodules", ".vscode/settings.json")
	return all
}

// Whatever is in the place of a file, who reads it ends, and takes no memory for it.
func TestWhateverIsInThePlaceOfAFile(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		for _, r := range rows() {
			for _, kind := range filekinds.All() {
				t.Run(r.file+" as "+kind.Name, func(t *testing.T) {
					t.Setenv("RALPH_STATE_DIR", t.TempDir())
					folder := scene(t)
					path := filepath.Join(folder, filepath.FromSlash(r.file))
					kind.Put(t, path)
					filekinds.Ends(t, func() {
						err := r.read(folder, path)
						if errors.Is(err, context.DeadlineExceeded) || kind.Name == "a pipe" && r.needs == saysSo && (err == nil || !strings.Contains(err.Error(), filepath.Base(path))) {
							t.Errorf("it says %v", err)
						}
					})
				})
			}
		}
	})
}

// scene is a folder with a repository that has no commit yet.
func scene(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".git/objects/info/packs": "", ".git/refs/heads/.keep.lock": "", "file": "text\n", "below/file": "text\n",
		"api/file": "text\n", "api/.git/HEAD": "ref: refs/heads/main\n", "api/.git/config": "[core]\n\trepositoryformatversion = 0\n",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
	}
	return folder
}

func readsPlan(folder, _ string) error {
	_, err := setup.ReadPlan(folder, "PLAN.md")
	return err
}

func writesPlan(folder, _ string) error {
	return setup.WritePlan(folder, plan.Plan{}, plan.Plan{Name: "PLAN.md", Data: []byte("- [ ] a\n")})
}

func loadsState(folder, _ string) error {
	file, err := loopstate.Open(folder)
	if err == nil {
		_, err = file.Load()
	}
	return first(err, loopstate.CheckPlace(folder))
}

// first is the first of two that is one.
func first(one, other error) error {
	if one == nil {
		return other
	}
	return one
}

// locks takes the folder's lock, writes its state and leaves both.
func locks(folder, _ string) error {
	file, err := loopstate.Open(folder)
	if err != nil {
		return err
	}
	if _, _, err := file.Owner(); err != nil {
		return err
	}
	lock, err := file.Lock(loopstate.Owner{})
	if err != nil {
		return err
	}
	_ = file.Create(loopstate.State{LoopID: "loop", Prompt: "text"})
	return lock.Release()
}

func bringsAlong(folder, _ string) error {
	settings, err := config.FilesOf(folder, nil).Load()
	start.BroughtTo(settings)
	return err
}

func agentsIn(folder, _ string) error {
	var all []error
	for _, p := range agents.Read(folder).Problems {
		all = append(all, errors.New(p.File+": "+p.Message))
	}
	return errors.Join(all...)
}

func readsNotes(folder, _ string) error {
	_, err := notes.Read(folder, "notes.md", 100)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return first(err, notes.Add(ctx, folder, "notes.md", "a note"))
}

// comparesWrite shows what an agent wants to write.
func comparesWrite(folder, path string) error {
	input := []byte(ask.JSON(map[string]string{"file_path": path, "content": "new"}))
	ask.Reader{Dir: folder}.Question(stream.Question{Method: "can_use_tool", Tool: "Write", Message: path, Input: input})
	return nil
}

// snapshots makes some of a folder, with git and without.
func snapshots(folder, _ string) error {
	options := changes.Options{Keep: time.Hour, MaxFile: 1 << 20, Dir: os.Getenv("RALPH_STATE_DIR")}
	store, err := changes.Create(context.Background(), folder, "loop", options, nil)
	if err == nil {
		_, err = store.Snapshots.Start(context.Background())
	}
	if err == nil {
		_, err = store.Snapshots.After(context.Background(), 1)
	}
	bare, bareErr := changes.Look(folder, options, nil)
	if bareErr == nil {
		_, bareErr = bare.State()
	}
	return first(err, bareErr)
}

func worktrees(folder, _ string) error {
	since := worktree.Commits(folder)
	_ = since()
	worktree.CommonDir(folder)
	worktree.Find(folder)
	worktree.List(folder)
	worktree.PastOf(folder)
	_, err := worktree.Preview(context.Background(), worktree.Options{Folder: folder})
	return err
}

// walls raises them, and looks at what they were to keep.
func walls(folder, _ string) error {
	raised, err := sandbox.Raise(context.Background(), sandbox.Spec{Mode: sandbox.Workspace}, folder)
	if err == nil {
		raised.Close()
	}
	return err
}
