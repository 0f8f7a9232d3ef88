package sandbox

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// mountList collects what is mounted where, each over those before it.
type mountList struct {
	args   []string
	pinned map[string]bool // are mount points, so that nobody can move them away
	fixed  []string        // are read-only
	hidden []string        // are empty
	theirs string          // a link where walls would be led somewhere by it, "" for none
	owns   *ownDirs        // in the place of what the agent keeps
}

func (p *mountList) add(args ...string) { p.args = append(p.args, args...) }

// open lets dir be written.
func (p *mountList) open(path string) {
	p.add("--bind", path, path)
	p.pinned[path] = true
}

// show lets path be read where it is hidden.
func (p *mountList) show(path string) { p.add("--ro-bind", path, path) }

// pin keeps the folders between root and path from being moved away, so that nobody can put others in their place.
func (p *mountList) pin(root, path string) {
	var between []string
	for dir := filepath.Dir(path); within(dir, root) && dir != root; dir = filepath.Dir(dir) {
		between = append(between, dir)
	}
	for _, dir := range slices.Backward(between) {
		if !p.pinned[dir] && !withinAny(dir, p.fixed) { // nothing in there can be moved
			p.open(dir)
		}
	}
}

// direct says whether a path has no links, which whoever is behind walls may have made. With one
// there are no mounts.
func (p *mountList) direct(path string) bool {
	if real(path) == path {
		return true
	}
	p.theirs = path
	return false
}

// fix makes path, which is below root, read-only.
func (p *mountList) fix(root, path string) {
	if !p.direct(path) {
		return
	}
	p.pin(root, path)
	p.show(path)
	p.pinned[path] = true
	p.fixed = append(p.fixed, path)
}

// hide empties path.
func (p *mountList) hide(path, empty string) {
	p.hidden = append(p.hidden, path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		p.add("--size", "4096", "--tmpfs", path, "--remount-ro", path)
		return
	}
	p.add("--ro-bind", empty, path)
}

// arguments are bubblewrap's for a run.
func (w *mounts) arguments(dir, program string, run Run) (*mountList, error) {
	if err := w.checkNamed(); err != nil {
		return nil, err
	}
	empty := filepath.Join(run.TempDir, ".empty")
	if err := regular.Write(empty, nil, 0o400); err != nil && !exists(empty) {
		return nil, err
	}
	p := &mountList{pinned: map[string]bool{}}
	p.add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent")
	if !run.HasTerminal {
		p.add("--new-session")
	}
	isOff := !w.spec.Network && !run.IsCheck || run.IsCheck && !w.spec.VerifyNetwork
	if isOff {
		p.add("--unshare-net")
	}
	p.add(privileges(w.folder)...)
	p.add("--ro-bind", "/", "/", "--dev", "/dev")
	p.add(processes()...)
	w.emptyTempDirs(p, run)
	p.add("--remount-ro", "/dev")
	if err := w.there.forProgram(program).fill(p, run); err != nil {
		return nil, err
	}
	for _, path := range w.hidden() {
		p.hide(path, empty)
	}
	w.temp(p, run)
	owns, err := w.openOwn(p, run)
	if err != nil {
		return nil, err
	}
	p.owns = owns
	w.openCaches(p, run)
	w.openNamed(p)
	w.openRepository(p)
	for _, path := range w.guards() {
		p.fix(w.folder, path)
	}
	w.hideNamed(p, empty)
	if isOff {
		w.hideSockets(p, empty)
	}
	if p.theirs != "" {
		return nil, &Error{"the sandbox can't be raised around " + w.folder,
			p.theirs + " is a link, or behind one, and an agent may have made it", "look where it leads, and remove it"}
	}
	for _, home := range w.there.emptied() {
		p.add("--remount-ro", home)
	}
	p.add("--chdir", dir)
	return p, nil
}

// packageOf is the outermost folder with packages that a program, or a folder of links to
// programs, belongs to, or what it was given.
func packageOf(program string) string {
	if before, _, ok := strings.Cut(program, "/node_modules/"); ok {
		return before + "/node_modules"
	}
	return program
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// emptyTempDirs has nothing but memory where others' sockets and files are. All of it together, with
// TMPDIR, is bounded.
func (w *mounts) emptyTempDirs(p *mountList, run Run) {
	budget, sixteenths := tempBytes(), map[string]uint64{"/run": 1, "/dev/shm": 3, "/tmp": 12}
	if !isInTmp(run.TempDir) {
		sixteenths["/tmp"] = 2
	}
	for _, room := range tempDirs {
		if at := real(room); exists(at) {
			p.add("--perms", "1777", "--size", strconv.FormatUint(budget/16*sixteenths[room], 10), "--tmpfs", at)
		}
	}
}

// isInTmp says whether a TMPDIR is part of what everybody's temporary folder may take.
func isInTmp(path string) bool { return within(real(path), real("/tmp")) }

// temp gives the run a TMPDIR in memory, which is bounded and goes with it. The files that this program and the run
// exchange stay shared.
func (w *mounts) temp(p *mountList, run Run) {
	if isInTmp(run.TempDir) {
		p.add("--perms", "0700", "--dir", run.TempDir)
	} else {
		p.add("--perms", "0700", "--size", strconv.FormatUint(tempBytes()/16*10, 10), "--tmpfs", run.TempDir)
	}
	for _, path := range run.Writable {
		p.open(path)
	}
	for _, path := range run.Readable {
		p.show(path)
	}
}

// guards lists what is read-only in the folder, and makes what nobody is to make.
func (w *mounts) guards() []string {
	for _, name := range guardedDirs {
		w.made.dir(filepath.Join(w.folder, name))
	}
	return w.readOnly()
}

// readOnly lists what is there in the folder and that nobody behind the walls may write.
func (w *site) readOnly() []string {
	paths := w.guarded()
	for _, pattern := range w.spec.Protect {
		paths = append(paths, w.matching(pattern)...)
	}
	for i, path := range paths {
		paths[i] = real(path)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !exists(path) || !within(path, w.folder) || path == w.folder })
	slices.Sort(paths) // folders before what is in them
	return slices.Compact(paths)
}

// matching lists what a pattern of verify's stands for in the folder.
func (w *site) matching(pattern string) (paths []string) {
	if !strings.Contains(pattern, "**") {
		names, _ := fs.Glob(os.DirFS(w.folder), path.Clean(pattern)) // a bad pattern names nothing; the configuration refuses it
		for _, name := range names {
			paths = append(paths, filepath.Join(w.folder, name))
		}
		return paths
	}
	filepath.WalkDir(w.folder, func(path string, entry fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(w.folder, path)
		switch {
		case err != nil || relErr != nil || name == ".":
		case name == ".git":
			return filepath.SkipDir
		case verify.Matches(pattern, filepath.ToSlash(name)):
			if paths = append(paths, path); entry.IsDir() {
				return filepath.SkipDir
			}
		}
		return nil
	})
	return paths
}
