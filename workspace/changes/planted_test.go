package changes

import (
	"os"
	"path/filepath"
	"testing"
)

// What a stranger's folder brings along, and what an agent made in the loop before, runs nothing
// when snapshots are made.
func TestWhatIsPlantedRunsNothing(t *testing.T) {
	t.Parallel()
	const attributes = "* filter=evil diff=evil merge=evil\n"
	for name, plant := range map[string]func(f *folder, evil string){
		"a repository of the folder's": func(f *folder, evil string) {
			f.git("init", "-q")
			f.git("config", "filter.evil.clean", evil)
		},
		"files that look like one": func(f *folder, evil string) {
			f.git("init", "-q", "--bare")
			f.git("config", "--file", f.path("config"), "core.bare", "false")
			f.git("config", "--file", f.path("config"), "core.worktree", f.dir)
			f.git("config", "--file", f.path("config"), "filter.evil.process", evil)
		},
		"files that look like one, below a repository": func(f *folder, evil string) {
			f.git("init", "-q")
			f.git("init", "-q", "--bare", f.path("sub"))
			f.dir = f.path("sub")
			f.git("config", "--file", f.path("config"), "core.bare", "false")
			f.git("config", "--file", f.path("config"), "core.worktree", ".")
			f.git("config", "--file", f.path("config"), "filter.evil.clean", evil)
		},
		"a link to one": func(f *folder, evil string) {
			f.git("init", "-q", "--separate-git-dir", f.path("hidden"))
			f.git("config", "filter.evil.clean", evil)
		},
		"a monitor of files": func(f *folder, evil string) {
			f.git("init", "-q")
			f.git("config", "core.fsmonitor", evil)
		},
		"one within, which is added": func(f *folder, evil string) {
			f.git("init", "-q")
			f.git("init", "-q", f.path("sub"))
			f.git("-C", f.path("sub"), "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
			f.git("-C", f.path("sub"), "config", "core.fsmonitor", evil)
			f.write("sub/.gitattributes", attributes, ".gitmodules", "[submodule \"sub\"]\npath = sub\nurl = x\nignore = none\n")
			f.git("-c", "core.fsmonitor=false", "add", "sub")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := bare(t)
			ran := filepath.Join(t.TempDir(), "ran")
			evil := filepath.Join(t.TempDir(), "evil")
			f.must(os.WriteFile(evil, []byte("#!/bin/sh\ntouch '"+ran+"'\ncat\n"), 0o755))
			plant(f, evil)
			f.write(".gitattributes", attributes, "a", "1\n", "sub/b", "1\n")
			f.must(os.RemoveAll(ran)) // by what planted it
			f.open("first")
			f.start()
			f.after(1, "a", "2\n")
			f.open("second")
			f.start()
			f.after(1, "a", "3\n")
			f.changed(Range{0, 1}, "modified a +1 -1")
			f.undo(Undo{Iteration: 1}, []string{"a"})
			f.has("a", "2\n")
			if _, err := os.Stat(ran); err == nil {
				t.Error("it ran")
			}
		})
	}
}
