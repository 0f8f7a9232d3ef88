package sandbox

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// scratch is a folder that is watched while somebody does something in it.
type scratch struct {
	*testing.T
	dir string
}

func (s scratch) path(name string) string { return filepath.Join(s.dir, name) }

func (s scratch) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// write writes a file where it is, save puts another one in its place.
func (s scratch) write(name, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o700))
	s.must(os.WriteFile(s.path(name), []byte(text), 0o600))
}

func (s scratch) save(name, text string) {
	s.Helper()
	s.write(name+"~", text)
	s.must(os.Rename(s.path(name+"~"), s.path(name)))
}

func (s scratch) git(args ...string) string {
	s.Helper()
	out, err := exec.Command("git", append([]string{"-C", s.dir}, args...)...).Output()
	if err != nil && len(out) > 0 {
		s.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// watched returns what is told of what is done, without the folder.
func (s scratch) watched(fixed []string, do func()) (told []string) {
	s.Helper()
	w := &guard{site: &site{folder: s.dir}, onBreach: func(b Breach) {
		name, err := filepath.Rel(s.dir, b.Path)
		s.must(err)
		told = append(told, name+" "+b.Text)
	}}
	for i := range fixed {
		fixed[i] = s.path(fixed[i])
	}
	settle := w.watch(fixed)
	do()
	settle()
	return told
}

// aged waits until what there is doesn't look as if it had just been made.
func (s scratch) aged(name string) {
	s.Helper()
	s.must(filepath.WalkDir(s.path(name), func(path string, _ fs.DirEntry, err error) error {
		for changedSince(path, time.Now().Add(-2*slack)) {
			runtime.Gosched()
		}
		return err
	}))
}

func newSite(t *testing.T) scratch {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	return scratch{t, dir}
}

// What the user's programs obey is read-only for an agent. Where it was not, they are told.
func TestWhatMayNotBeAsItWas(t *testing.T) {
	const made, gitMade = ".envrc was made while the agent ran, so it may be the agent's", ".git was made while the agent ran: its hooks"
	const planted, repository = " was made or changed while the agent ran, and programs", " was made or set up while the agent ran: git"
	const named, replaced = ".envrc has another name, and was changed", ".envrc was replaced while the agent ran"
	large := strings.Repeat("x", maxWatched+1)
	for name, tt := range map[string]struct {
		before func(scratch)
		do     func(scratch)
		want   string // the beginning of what is told; "": nothing is
	}{
		"nothing is there, nor comes": {nil, nil, ""},
		"it is left alone":            {func(s scratch) { s.write(".envrc", "a") }, nil, ""},
		"it comes":                    {nil, func(s scratch) { s.write(".envrc", "a") }, made},
		"a repository comes":          {nil, func(s scratch) { s.write(".git/HEAD", "x") }, gitMade},
		"a workspace comes":           {nil, func(s scratch) { s.write("a.code-workspace", "{}") }, "a.code-workspace" + planted},
		"one below comes":             {nil, func(s scratch) { s.write("far/away/.envrc", "a") }, "far/away/.envrc" + planted},
		"one below is changed":        {func(s scratch) { s.write("far/.vscode/tasks.json", "a") }, func(s scratch) { s.write("far/.vscode/tasks.json", "b") }, "far/.vscode" + planted},
		"one below is left alone":     {func(s scratch) { s.write("far/.vscode/tasks.json", "a"); s.aged("far") }, func(s scratch) { s.write("far/x", "b") }, ""},
		"one below, as if it were old": {nil, func(s scratch) {
			s.write("far/.exrc", "a")
			s.must(os.Chtimes(s.path("far/.exrc"), time.Unix(1, 0), time.Unix(1, 0)))
		}, "far/.exrc" + planted},
		"a repository below comes":          {nil, func(s scratch) { s.git("init", "-q", "sub") }, "sub/.git" + repository},
		"a link to one below":               {nil, func(s scratch) { s.write("sub/.git", "gitdir: ../x") }, "sub/.git" + repository},
		"files that look like one":          {nil, func(s scratch) { s.git("init", "-q", "--bare", "sub") }, "sub" + repository},
		"files that look like one, here":    {nil, func(s scratch) { s.git("init", "-q", "--bare", ".") }, "." + repository},
		"a repository below is set up":      {func(s scratch) { s.git("init", "-q", "sub"); s.aged("sub") }, func(s scratch) { s.git("-C", "sub", "config", "a.b", "c") }, "sub/.git" + repository},
		"one below gets a hook":             {func(s scratch) { s.git("init", "-q", "sub"); s.aged("sub") }, func(s scratch) { s.write("sub/.git/hooks/pre-commit", "c") }, "sub/.git" + repository},
		"one below is worked in":            {func(s scratch) { s.git("init", "-q", "sub"); s.aged("sub") }, func(s scratch) { s.write("sub/a", "c"); s.git("-C", "sub", "add", "a") }, ""},
		"a nearer repository comes":         {func(s scratch) { s.git("init", "-q", ".."); s.T.Cleanup(func() { os.RemoveAll(s.path("../.git")) }) }, func(s scratch) { s.write(".git/HEAD", "x") }, gitMade},
		"it goes":                           {func(s scratch) { s.write(".envrc", "a") }, func(s scratch) { s.must(os.Remove(s.path(".envrc"))) }, ""},
		"it is written, which no wall lets": {func(s scratch) { s.write(".envrc", "a") }, func(s scratch) { s.write(".envrc", "b") }, ""},
		"it is saved as it was":             {func(s scratch) { s.write(".envrc", "a") }, func(s scratch) { s.save(".envrc", "a") }, ""},
		"it is saved":                       {func(s scratch) { s.write(".envrc", "a") }, func(s scratch) { s.save(".envrc", "b") }, replaced},
		"an empty one is saved, large":      {func(s scratch) { s.write(".envrc", "") }, func(s scratch) { s.save(".envrc", large) }, replaced},
		"a large one is saved":              {func(s scratch) { s.write(".envrc", large) }, func(s scratch) { s.save(".envrc", large) }, replaced},
		"it becomes a link": {func(s scratch) { s.write(".envrc", ""); s.write("other", "") }, func(s scratch) {
			s.must(os.Symlink("other", s.path("link")))
			s.must(os.Rename(s.path("link"), s.path(".envrc")))
		}, replaced},
		"it has another name": {func(s scratch) { s.write(".envrc", "a"); s.must(os.Link(s.path(".envrc"), s.path("other"))) }, nil, ""},
		"by which it is written": {func(s scratch) { s.write(".envrc", "a"); s.must(os.Link(s.path(".envrc"), s.path("other"))) },
			func(s scratch) { s.write("other", "b") }, named},
		"by which an empty one gets large": {func(s scratch) { s.write(".envrc", ""); s.must(os.Link(s.path(".envrc"), s.path("other"))) },
			func(s scratch) { s.write("other", large) }, named},
		"a folder gets another one": {func(s scratch) { s.write(".pi/a", "") }, func(s scratch) { s.write(".pi/b/c", "") }, ""},
		"a folder is another one": {func(s scratch) { s.write(".pi/a", "") }, func(s scratch) {
			s.write("new/a", "")
			s.must(os.Rename(s.path(".pi"), s.path("old")))
			s.must(os.Rename(s.path("new"), s.path(".pi")))
		}, ".pi was replaced while the agent ran"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if tt.before != nil {
				tt.before(s)
			}
			told := s.watched(nil, func() {
				if tt.do != nil {
					tt.do(s)
				}
			})
			if tt.want == "" && told != nil || tt.want != "" && (len(told) != 1 || !strings.HasPrefix(told[0], tt.want)) {
				t.Errorf("told %q, want %q", told, tt.want)
			}
		})
	}
}

// A file that could not be held may be another one that looks the same.
func TestOnlyAFileThatWasHeldIsStillTheSame(t *testing.T) {
	s := newSite(t)
	s.write("a", "a")
	seen, held := look(s.path("a")), hold(s.path("a"))
	if seen.isStill(look(s.path("a"))) || !held.isStill(look(s.path("a"))) {
		t.Error("one that was held isn't the same, or one that wasn't is")
	}
	if s.save("a", "a"); held.isStill(look(s.path("a"))) {
		t.Error("another one is the same")
	}
	if none := hold(s.path("none")); none.info != nil || none.held != nil {
		t.Errorf("what isn't there is held: %+v", none)
	}
	held.held.Close()
}

// Of git's configuration only what git runs is taken back.
func TestWhatGitWouldRunIsTakenBack(t *testing.T) {
	const back, replaced = ".git/config core.fsmonitor was taken back", "was replaced while the agent ran"
	set := func(s scratch, args ...string) { s.git(append([]string{"config"}, args...)...) } // git saves it
	inPlace := func(s scratch) { s.write(".git/config", s.read(".git/config")+"[core]\n\tfsmonitor = evil\n") }
	for name, tt := range map[string]struct {
		before func(scratch)
		do     func(scratch)
		told   string
		key    string
		value  string // of the key, then
	}{
		"nothing":                            {nil, nil, "", "core.fsmonitor", ""},
		"a program":                          {nil, func(s scratch) { set(s, "core.fsmonitor", "evil") }, back, "core.fsmonitor", ""},
		"another program":                    {func(s scratch) { set(s, "core.fsmonitor", "mine") }, func(s scratch) { set(s, "core.fsmonitor", "evil") }, back, "core.fsmonitor", "mine"},
		"the program of before":              {func(s scratch) { set(s, "core.fsmonitor", "mine") }, func(s scratch) { set(s, "user.name", "Ann") }, "", "core.fsmonitor", "mine"},
		"a name":                             {nil, func(s scratch) { set(s, "user.name", "Ann") }, "", "user.name", "Ann"},
		"where a remote is":                  {nil, func(s scratch) { set(s, "remote.x.url", "u") }, "", "remote.x.url", "u"},
		"what a remote runs":                 {nil, func(s scratch) { set(s, "remote.x.uploadpack", "evil") }, ".git/config remote.x.uploadpack was taken back", "remote.x.uploadpack", ""},
		"what a remote runs to take":         {nil, func(s scratch) { set(s, "remote.x.receivepack", "evil") }, ".git/config remote.x.receivepack was taken back", "remote.x.receivepack", ""},
		"what a remote is":                   {nil, func(s scratch) { set(s, "remote.x.vcs", "evil") }, ".git/config remote.x.vcs was taken back", "remote.x.vcs", ""},
		"what an update of a submodule runs": {nil, func(s scratch) { set(s, "submodule.x.update", "!evil") }, ".git/config submodule.x.update was taken back", "submodule.x.update", ""},
		"written, which no wall lets":        {nil, inPlace, "", "core.fsmonitor", "evil"},
		"written by another name":            {func(s scratch) { s.must(os.Link(s.path(".git/config"), s.path("other"))) }, inPlace, back, "core.fsmonitor", ""},
		"it goes":                            {nil, func(s scratch) { s.must(os.Remove(s.path(".git/config"))) }, "", "core.fsmonitor", ""},
		"another file of that name":          {func(s scratch) { s.write("config", "a") }, func(s scratch) { s.save("config", "b") }, "config " + replaced, "core.fsmonitor", ""},
		"the hooks": {func(s scratch) { s.write(".git/hooks/a", "") }, func(s scratch) {
			s.must(os.Rename(s.path(".git/hooks"), s.path(".git/old")))
			s.write(".git/hooks/a", "evil")
		}, ".git/hooks " + replaced, "core.fsmonitor", ""},
		"a work tree's own, which wasn't there": {nil, func(s scratch) {
			s.write(".git/config.worktree", "[core]\n\tsparseCheckout = true\n\tfsmonitor = evil\n")
		}, ".git/config.worktree core.fsmonitor was taken back", "core.sparseCheckout", ""},
		"that as a link":       {nil, func(s scratch) { s.must(os.Symlink("config", s.path(".git/config.worktree"))) }, ".git/config.worktree was made while the agent ran", "core.fsmonitor", ""},
		"where git is to look": {nil, func(s scratch) { s.write(".git/commondir", "/evil") }, ".git/commondir was made during the run and is removed", "core.fsmonitor", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.git("init", "-q")
			if tt.before != nil {
				tt.before(s)
			}
			told := s.watched([]string{".git/config", ".git/hooks", "config"}, func() {
				if tt.do != nil {
					tt.do(s)
				}
			})
			if tt.told == "" && told != nil || tt.told != "" && (len(told) != 1 || !strings.HasPrefix(told[0], tt.told)) {
				t.Errorf("told %q, want %q", told, tt.told)
			}
			if got := s.git("config", "--file", ".git/config", tt.key); got != tt.value {
				t.Errorf("%s is %q, want %q", tt.key, got, tt.value)
			}
			if exists(s.path(".git/commondir")) {
				t.Error("git would look elsewhere")
			}
		})
	}
}

func (s scratch) read(name string) string {
	s.Helper()
	data, err := os.ReadFile(s.path(name))
	s.must(err)
	return string(data)
}
