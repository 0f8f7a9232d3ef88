package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// A file that is read-only behind the walls isn't any more when a program outside puts another one in its place, as
// git and editors do when they save: the kernel takes the walls' own view of it away. So read-only files are looked
// at once more when a run is over.

// Breach is something that walls could not keep as it was, or nobody knows whether they did.
type Breach struct{ Path, Text string }

// maxWatched bounds the files whose content is remembered, in bytes.
const maxWatched = 1 << 20

// watched is a path as it was before a run.
type watched struct {
	info    fs.FileInfo // nil: there was nothing
	content []byte
	held    *os.File // nil: it could not be held
}

func look(path string) watched {
	info, err := os.Lstat(path)
	if err != nil {
		return watched{}
	}
	seen := watched{info: info}
	if info.Mode().IsRegular() {
		seen.content, _ = regular.Read(path, maxWatched)
	}
	return seen
}

// hold looks at a path and holds it. A file that nothing holds is gone when another one takes
// its place, and file systems give its number away again: the other one may look the same.
func hold(path string) watched {
	held, err := pin(path)
	seen := look(path)
	if err != nil {
		return seen
	}
	if opened, err := held.Stat(); err != nil || seen.info == nil || !os.SameFile(seen.info, opened) {
		held.Close()
		return seen
	}
	seen.held = held
	return seen
}

// isStill says whether a path's file is the one that was held. One that could not be held
// counts as another one.
func (w watched) isStill(now watched) bool {
	return w.held != nil && os.SameFile(w.info, now.info)
}

// isAlike says whether a file has what it had, as far as that is known: of one that is too
// large, a link or a folder it isn't.
func (w watched) isAlike(now watched) bool {
	return w.content != nil && now.content != nil && bytes.Equal(w.content, now.content)
}

// guard looks after what is read-only for runs, and tells what changed there.
type guard struct {
	*site
	onBreach func(Breach)
}

// watch remembers how things are, and returns what compares.
func (w *guard) watch(fixed []string) (settle func()) {
	r, hasRepository := findRepository(w.folder)
	before := map[string]watched{}
	for _, path := range slices.Concat(fixed, w.guarded(), r.unsettled()) {
		before[path] = hold(path)
	}
	if nearer := filepath.Join(w.folder, ".git"); !exists(nearer) { // git would find it before another one above
		before[nearer] = watched{}
	}
	begun := time.Now()
	detour := filepath.Join(r.common, "commondir") // git would take configuration and hooks from where it says
	return func() {
		if hasRepository && exists(detour) && os.Remove(detour) == nil {
			w.report(detour, "was made during the run and is removed: git would have run programs that it names")
		}
		for _, path := range slices.Sorted(maps.Keys(before)) {
			if hasRepository && strings.HasPrefix(filepath.Base(path), "config") && within(path, r.common) {
				w.settleGit(path, before[path])
			} else {
				w.settle(path, before[path], look(path))
			}
			before[path].held.Close() // one that isn't there says so, and nobody listens
		}
		w.reportPlanted(begun, func(path string) bool {
			for seen := range before {
				if within(seen, path) {
					return true
				}
			}
			return false
		})
	}
}

// settle tells what may have been changed by what ran.
func (w *guard) settle(path string, before, now watched) {
	switch {
	case before.info == nil && now.info == nil:
	case before.info == nil && filepath.Base(path) == ".git":
		w.report(path,
			"was made while the agent ran: its hooks and its configuration may be the agent's, so look at them before you use git here")
	case before.info == nil:
		w.report(path, "was made while the agent ran, so it may be the agent's: look at it before you use it")
	case now.info == nil: // only outside can it be removed, and somebody knows
	case before.isStill(now) && now.info.Mode().IsRegular() && links(now.info) > 1 && !before.isAlike(now):
		w.report(path, "has another name, and was changed while the agent ran: look at it before you use it")
	case before.isStill(now) || before.isAlike(now):
	default:
		w.report(path, "was replaced while the agent ran, and wasn't read-only for it from then on: look at it before you use it")
	}
}

// harmless are the parts of git's configuration that run nothing.
var harmless = []string{"branch.", "user.", "color.", "remote.", "submodule.", "core.repositoryformatversion",
	"core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.sparsecheckout", "core.symlinks"}

// settleGit takes back what git would run, where its configuration was saved during the run.
func (w *guard) settleGit(path string, before watched) {
	now := look(path)
	isNew := before.info == nil && filepath.Base(path) == "config.worktree" // which git makes when it is first needed
	if before.info == nil && !isNew || now.info == nil || before.isStill(now) && links(now.info) == 1 {
		return
	}
	if isNew && !now.info.Mode().IsRegular() {
		w.settle(path, before, now)
		return
	}
	old, current := settingsOf(before.content), settingsOf(now.content)
	for _, key := range slices.Sorted(maps.Keys(current)) {
		isHarmless := slices.ContainsFunc(harmless, func(begin string) bool { return strings.HasPrefix(key, begin) }) &&
			!strings.HasSuffix(key, "uploadpack") && !strings.HasSuffix(key, "receivepack") && !strings.HasSuffix(key, ".vcs") &&
			!strings.HasSuffix(key, ".update")
		if isHarmless || slices.Equal(old[key], current[key]) {
			continue
		}
		_, err := gitRuns(w.folder, nil, "--file", path, "--unset-all", key)
		for _, value := range old[key] {
			_, err = gitRuns(w.folder, nil, "--file", path, "--add", key, value)
		}
		text := "was taken back: it came while the agent ran and the file was being saved, and git would run it; set it again if it is yours"
		if err != nil {
			text = "came while the agent ran and the file was being saved, and git may run it: look at it before you use git here"
		}
		w.report(path, fmt.Sprintf("%s %s", key, text))
	}
}

// settingsOf has the values of a configuration of git's, by their keys.
func settingsOf(content []byte) map[string][]string {
	out, _ := gitRuns("", content, "--file", "-", "--no-includes", "--list", "-z")
	found := map[string][]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); key != "" {
			found[key] = append(found[key], value)
		}
	}
	return found
}

func (w *guard) report(path, text string) {
	if w.onBreach != nil {
		w.onBreach(Breach{path, text})
	}
}
