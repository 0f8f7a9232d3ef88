package fleet

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// other is a second worker.
func (w *works) other(name string) *Worker {
	of := w.worker
	return &Worker{Bus: w.bus, Name: name, Dir: filepath.Join(w.dir, name), Program: of.Program, Slots: 1, Keep: of.Keep, Log: of.Log}
}

func (w *works) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// commit commits all in the repository of the loop.
func (w *works) commit(message string) string {
	w.t.Helper()
	w.git("-C", w.repo, "add", "-A")
	w.git("-C", w.repo, "-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", message)
	return w.git("-C", w.repo, "rev-parse", "HEAD")
}

// goesOnElsewhere runs the loop for an iteration, in which the agent does something, and
// then to its end on another worker. It returns the branch that is fetched.
func (w *works) goesOnElsewhere(does string) (branch string) {
	w.t.Helper()
	w.write("log.pauses", "")
	w.write("log.does", does)
	r := w.until(w.submit(), isPaused)
	os.Remove(w.log + ".does")
	if err := handle(w.t, w.bus, r).Resume(loop.Patch{}); err != nil {
		w.t.Fatal(err)
	}
	w.worker = w.other("other")
	if r = w.until(r, isEnded); r.StopReason != "promise" {
		w.t.Fatalf("it is %+v", r)
	}
	w.git("-C", w.repo, "config", "user.name", "U")
	w.git("-C", w.repo, "config", "user.email", "u@x")
	branch, err := Fetch(w.t.Context(), w.bus, r, w.repo)
	if err != nil {
		w.t.Fatal(err)
	}
	return branch
}

func TestWhatAnAgentMakesOfItsCheckout(t *testing.T) {
	tests := []struct {
		name, does string
		check      func(t *testing.T, w *works, branch string)
	}{
		{"a repository without a commit", "mkdir nested; git init -q nested; echo x >nested/x; echo kept >kept", func(t *testing.T, w *works, branch string) {
			if got := w.git("-C", w.repo, "ls-tree", "-r", "--name-only", branch); got != "count\nkept" {
				t.Errorf("%s has\n%s", branch, got)
			}
		}},
		{"a repository", "git init -q nested; git -C nested -c user.name=A -c user.email=a@x commit -q --allow-empty -m x; echo kept >kept", func(t *testing.T, w *works, branch string) {
			if got := w.git("-C", w.repo, "ls-tree", "-r", "--name-only", branch); got != "count\nkept" {
				t.Errorf("%s has\n%s", branch, got)
			}
		}},
		{"a filter", "echo '* filter=f=x' >.gitattributes; git config filter.f=x.clean 'touch ../../../escaped; cat'; git config filter.f=x.required true", func(t *testing.T, w *works, _ string) {
			if _, err := os.Stat(filepath.Join(w.dir, "escaped")); err == nil {
				t.Error("the worker has run a filter of the agent's")
			}
		}},
		{"a monitor and hooks", "git config core.fsmonitor 'touch ../../../escaped'; git config core.hooksPath hooks; mkdir hooks; " +
			"for h in reference-transaction post-index-change post-checkout; do printf '#!/bin/sh\\ntouch ../../../escaped\\n' >hooks/$h; chmod +x hooks/$h; done", func(t *testing.T, w *works, _ string) {
			if _, err := os.Stat(filepath.Join(w.dir, "escaped")); err == nil {
				t.Error("the worker has run a program of the agent's")
			}
		}},
		{"a pipe for an index", "rm .git/index; mkfifo .git/index; echo kept >kept", func(t *testing.T, w *works, branch string) {
			if got := w.git("-C", w.repo, "ls-tree", "-r", "--name-only", branch); got != "count\nkept" {
				t.Errorf("%s has\n%s", branch, got)
			}
		}},
		{"links", "ln -s /nowhere broken; ln -s ../../.. up; mkdir d; echo x >d/f; ln -s d/f link", func(t *testing.T, w *works, branch string) {
			if got := w.git("-C", w.repo, "ls-tree", "-r", branch, "--format=%(objectmode) %(path)"); !strings.Contains(got, "120000 broken\n") || !strings.Contains(got, "120000 up") {
				t.Errorf("%s has\n%s", branch, got)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorks(t)
			tt.check(t, w, w.goesOnElsewhere(tt.does))
		})
	}
}

// An agent behind walls can't read a file of the worker's, so it must not have the worker do so.
func TestAStateThatLeadsOutIsNotPutOnTheBus(t *testing.T) {
	w := newWorks(t)
	w.write("secret", "sk-very-secret")
	w.write("log.does", "mkdir .pi; ln -s "+filepath.Join(w.dir, "secret")+" .pi/ralph-loop.local.md; end once; exit 3")
	loop := w.submit()
	r := w.until(loop, func(r Record) bool { return r.Failures > 0 })
	for name, data := range w.bus.files {
		if strings.Contains(string(data), "sk-very-secret") {
			t.Errorf("%s has it; the loop is %+v", name, r)
		}
	}
}

func TestWhatRepositoriesHave(t *testing.T) {
	t.Run("submodules are empty", func(t *testing.T) {
		w := newWorks(t)
		w.git("-C", w.repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", w.repo, "sub")
		w.commit("submodule")
		branch := w.goesOnElsewhere("")
		if got := w.git("-C", w.repo, "ls-tree", branch, "sub", "--format=%(objecttype)"); got != "commit" {
			t.Errorf("the submodule is %q", got)
		}
	})
	t.Run("pointers of git LFS stay pointers", func(t *testing.T) {
		w := newWorks(t)
		w.write("home/.gitconfig", "[filter \"lfs\"]\n\tclean = false\n\tsmudge = test $GIT_LFS_SKIP_SMUDGE = 1 && cat\n\trequired = true\n")
		w.write("repo/big", "version https://git-lfs.github.com/spec/v1\n")
		w.commit("a pointer")
		w.write("repo/.gitattributes", "big filter=lfs\n")
		w.commit("that is one")
		t.Setenv("HOME", filepath.Join(w.dir, "home"))
		if got := w.git("-C", w.repo, "show", w.goesOnElsewhere("")+":big"); !strings.HasPrefix(got, "version https://git-lfs") {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("a commit of no branch, by URL", func(t *testing.T) {
		w := newWorks(t)
		commit := w.commit("lost")
		w.git("-C", w.repo, "reset", "-q", "--hard", "HEAD^")
		var r Record
		w.task.Priority = Normal
		err := Submit(t.Context(), Door{w.bus}, Submission{Repo: "file://" + w.repo, Commit: commit, Prompt: "x", Task: w.task}, func(s Submitted) { r = s.Record })
		if err != nil {
			t.Fatal(err)
		}
		if r = w.until(r, isEnded); r.StopReason != "promise" {
			t.Errorf("it is %+v", r)
		}
	})
}

// What isn't a repository fails, soon and in words, and runs nothing.
func TestRepositoriesThatAreNone(t *testing.T) {
	w := newWorks(t)
	escaped := filepath.Join(w.dir, "escaped")
	w.write("askpass", "#!/bin/sh\ntouch "+escaped+"\n")
	t.Setenv("SSH_ASKPASS", filepath.Join(w.dir, "askpass"))
	t.Setenv("DISPLAY", ":0")
	c := &checkouts{dir: w.dir, bus: w.bus, fetcher: must(Fetcher("")), repos: map[string]*sync.RWMutex{}, free: paths.Free}
	for _, url := range []string{
		"file://" + w.dir + "/gone", "ext::touch " + escaped, "--upload-pack=touch " + escaped, "-oProxyCommand=touch " + escaped, "ssh://-oProxyCommand=touch " + escaped + "/x",
		"fd::7", "../repo\nx", "https://127.0.0.1:1/x.git", "ssh://127.0.0.1:1/x",
	} {
		r := Record{Task: Task{ID: "f1", Name: "one", Repo: url, Base: strings.Repeat("a", 40)}}
		err := r.Check()
		if err == nil {
			err = c.clone(t.Context(), r, filepath.Join(w.dir, "loops", "f1", "tree"))
		}
		if err == nil {
			t.Errorf("%q is one", url)
		}
		if err := Submit(t.Context(), Door{w.bus}, Submission{Repo: url, Prompt: "x"}, func(Submitted) { t.Errorf("%q is submitted", url) }); err == nil {
			t.Errorf("%q could be submitted", url)
		}
	}
	if _, err := os.Stat(escaped); err == nil {
		t.Error("a program was run")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestABusThatLies(t *testing.T) {
	w := newWorks(t)
	w.write("precious/file", "x")
	sane := w.submit()
	for _, lie := range []func(r *Record){
		func(r *Record) { r.ID = "../../precious" },
		func(r *Record) { r.Name = "../../../x" },
		func(r *Record) { r.Name = "a\x1b]0;x" },
		func(r *Record) { r.Base = "--upload-pack=x" },
		func(r *Record) { r.Repo = "--upload-pack=x" },
	} {
		r := sane
		r.Attempt, r.Phase = 0, Ended
		lie(&r)
		if err := r.Check(); err == nil {
			t.Errorf("a worker takes %+v", r.Task)
		}
	}
	lie := sane
	lie.ID, lie.Phase = "../../precious", Ended
	w.bus.lies = map[string]Record{"f2": lie, "f3": lie}
	w.write("w/loops/f2/tree/x", "x")
	queued := sane
	queued.ID = "f3"
	w.bus.Enqueue(t.Context(), queued)
	if r := w.until(sane, isEnded); r.StopReason != "promise" {
		t.Errorf("it is %+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "precious", "file")); err != nil {
		t.Error("what isn't the worker's is gone")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "w", "loops", "f2")); err == nil {
		t.Error("a checkout of nobody's stays")
	}
}

func TestACopyOfARepositoryThatIsBrokenIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, dir string){
		"locks of a git that was killed": func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, "packed-refs.lock"), nil, 0o600)
			os.WriteFile(filepath.Join(dir, "config.lock"), nil, 0o600)
			os.WriteFile(filepath.Join(dir, "objects", "pack", "tmp_pack_x"), nil, 0o600)
		},
		"no objects": func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, "objects")) },
		"half a pack": func(t *testing.T, dir string) {
			packs, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
			for _, p := range packs {
				os.Chmod(p, 0o600)
				os.Truncate(p, 20)
			}
		},
		"a file in its place": func(t *testing.T, dir string) {
			os.RemoveAll(dir)
			os.WriteFile(dir, nil, 0o600)
		},
		"a bad HEAD": func(t *testing.T, dir string) { os.WriteFile(filepath.Join(dir, "HEAD"), []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.commit("with something")
			first := w.until(w.submit(), isEnded)
			harm(t, (&checkouts{dir: w.worker.Dir}).mirrorDir(first.Task))
			w.task.Key = "another"
			if r := w.until(w.submit(), isEnded); r.StopReason != "promise" || r.Attempt != 3 {
				t.Errorf("it is %+v", r)
			}
		})
	}
}

// Checkouts of loops that wait stay, but not more than so many; those that went on elsewhere go.
func TestCheckoutsThatArentUsedGo(t *testing.T) {
	w := newWorks(t)
	c := &checkouts{dir: w.dir, bus: w.bus, keep: 2, free: paths.Free, used: map[string]int{}, repos: map[string]*sync.RWMutex{}}
	add := func(id, worker string, phase Phase, has string) {
		if worker != "" {
			w.bus.Create(t.Context(), Record{Task: Task{ID: id}, Worker: worker, Phase: phase, Committed: 3})
		}
		w.write("loops/"+id+"/tree/f", "x")
		if has != "" {
			w.write("loops/"+id+"/attempt", has)
		}
	}
	add("removed", "", Queued, "3")
	add("elsewhere", "other", Queued, "3")
	add("ended", "w", Ended, "3")
	add("older", "w", Queued, "2")
	add("half", "w", Running, "")
	if err := os.Chmod(filepath.Join(w.dir, "loops", "half", "tree"), 0o500); err != nil { // as a cache of Go's
		t.Fatal(err)
	}
	add("runs", "w", Running, "")
	release := c.use("runs")
	for i, id := range []string{"oldest", "second", "third"} {
		add(id, "w", Paused, "3")
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		os.Chtimes(filepath.Join(w.dir, "loops", id), at, at)
	}
	there := func() string {
		var names []string
		for _, e := range must(os.ReadDir(filepath.Join(w.dir, "loops"))) {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	if err := c.tidy(t.Context(), "w"); err != nil {
		t.Error(err)
	}
	if got := there(); got != "runs second third" {
		t.Errorf("there is %s", got)
	}
	c.minFree, c.free = 10, func(string) (int64, error) {
		if strings.Contains(there(), "second") {
			return 9, nil
		}
		return 10, nil
	}
	if isEnough, err := c.room(); !isEnough || err != nil || there() != "runs third" {
		t.Errorf("room: %v, %v, there is %s", isEnough, err, there())
	}
	c.free = func(string) (int64, error) { return 0, nil }
	if isEnough, _ := c.room(); isEnough || there() != "runs" {
		t.Errorf("room: %v, there is %s", isEnough, there())
	}
	release()
}

// hears is a log that does something when a text is said.
type hears struct {
	text string
	do   func()
}

func (h hears) Write(line []byte) (int, error) {
	if strings.Contains(string(line), h.text) {
		h.do()
	}
	return len(line), nil
}

func TestAFullDiskTakesNoLoop(t *testing.T) {
	w := newWorks(t)
	loop := w.submit()
	w.worker.MinFree = 1 << 40
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.worker.Log = slog.New(slog.NewTextHandler(hears{"the disk is full", cancel}, nil))
	if err := w.worker.Run(ctx); err != nil {
		t.Error(err)
	}
	if r, _, _ := w.bus.Get(t.Context(), loop.ID); r.Attempt != 0 || r.Failures != 0 {
		t.Errorf("it is %+v", r)
	}
	w.worker.MinFree = 0
	if r := w.until(loop, isEnded); r.StopReason != "promise" {
		t.Errorf("it is %+v", r)
	}
}

func TestAFolderIsOneWorkers(t *testing.T) {
	w := newWorks(t)
	c := &checkouts{dir: w.dir}
	release, err := c.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := (&checkouts{dir: w.dir}).hold(ctx); err == nil || !strings.Contains(err.Error(), "another worker's") {
		t.Errorf("the folder is held twice: %v", err)
	}
	release()
	if release, err = c.hold(t.Context()); err != nil {
		t.Error(err)
	}
	release()
}

// What a loop was refuted, allowed and published elsewhere counts: its state is no stranger's.
func TestALoopFromAnotherWorkerIsNoStranger(t *testing.T) {
	w := newWorks(t)
	w.write("log.pauses", "")
	w.write("log.does", `resume="loop_id: ralph-it"`)
	r := w.until(w.submit(), isPaused)
	c := &checkouts{dir: filepath.Join(w.dir, "other"), bus: w.bus, fetcher: must(Fetcher("")), free: paths.Free, repos: map[string]*sync.RWMutex{}, used: map[string]int{}}
	tree, err := c.prepare(t.Context(), r, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	if config.FilesOf(tree, nil).HasStarted("ralph-it") {
		t.Error("the home of the worker's user knows of it")
	}
	t.Setenv(paths.EnvState, keptOf(tree))
	if !config.FilesOf(tree, nil).HasStarted("ralph-it") {
		t.Error("it is a stranger")
	}
}

func TestACopyOfARepositoryThatIsWellStays(t *testing.T) {
	w := newWorks(t)
	first := w.until(w.submit(), isEnded)
	mark := filepath.Join((&checkouts{dir: w.worker.Dir}).mirrorDir(first.Task), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.task.Key = "another"
	w.until(w.submit(), isEnded)
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the copy was made anew: %v", err)
	}
}

// A checkpoint is made anew where anything has changed that it has, and only there.
func TestACheckpointIsMadeOfWhatChanged(t *testing.T) {
	for name, test := range map[string]struct {
		does  string
		fresh bool
	}{
		"nothing":            {"true", false},
		"a look at it":       {"touch .git/index", false},
		"the loop's own":     {"echo x >>.pi/ralph-loop.local.md", false},
		"a file":             {"echo more >>count", true},
		"a file of that age": {"touch -r count was; echo 9 >count; touch -r was count; rm was", true},
		"a new one":          {"mkdir d; echo x >d/f", true},
		"one less":           {"rm count", true},
		"a mode":             {"chmod +x count", true},
		"a commit":           {"git -c user.name=A -c user.email=a@x commit -q --allow-empty -m more", true},
		"a snapshot":         {"git update-ref refs/ralph/one/last HEAD", true},
		"what git ignores":   {"echo count >>.git/info/exclude", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.write("log.pauses", "")
			r := w.until(w.submit(), isPaused)
			c := w.worker.checkouts
			tree := c.tree(r)
			inode := func() os.FileInfo {
				bundle, err := c.checkpoint(t.Context(), r, tree, "")
				if err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(bundle)
				if err != nil {
					t.Fatal(err)
				}
				return info
			}
			before := inode()
			for { // what was just written may change again, so it is looked at again
				again := inode()
				if os.SameFile(before, again) && before.ModTime().Equal(again.ModTime()) {
					break
				}
				before = again
			}
			cmd := exec.Command("sh", "-c", test.does)
			cmd.Dir = tree
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			after := inode()
			if isFresh := !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()); isFresh != test.fresh {
				t.Errorf("made anew: %v, want %v", isFresh, test.fresh)
			}
		})
	}
}

// A loop whose snapshot has all files as they are says so, and they aren't looked at again.
func TestACheckpointHasTheTreeThatItsLoopKnows(t *testing.T) {
	w := newWorks(t)
	w.write("log.pauses", "")
	r := w.until(w.submit(), isPaused)
	c := w.worker.checkouts
	tree := c.tree(r)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", tree}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	base := git("rev-parse", "HEAD^{tree}")
	for _, known := range []string{base, ""} {
		if err := os.WriteFile(filepath.Join(tree, "new"), []byte(known), 0o600); err != nil {
			t.Fatal(err)
		}
		bundle, err := c.checkpoint(t.Context(), r, tree, known)
		if err != nil {
			t.Fatal(err)
		}
		if isKnown := git("rev-parse", workRef+"^{tree}") == base; isKnown != (known != "") {
			t.Errorf("of the tree %q: it is that of the base: %v", known, isKnown)
		}
		if heads := git("bundle", "list-heads", bundle); !strings.Contains(heads, git("rev-parse", workRef)) {
			t.Errorf("the bundle has %s", heads)
		}
	}
}
