package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph-lsp/internal/paths"
	"ralph-lsp/verify"
)

// plan collects what is mounted where, each over those before it.
type plan struct {
	args   []string
	pinned map[string]bool // are mount points, so that nobody can move them away
	fixed  []string        // are read-only
	hidden []string        // are empty
	theirs string          // a link where walls would be led somewhere by it, "" for none
	owns   *placed         // in the place of what the agent keeps
}

func (p *plan) add(args ...string) { p.args = append(p.args, args...) }

// open lets dir be written.
func (p *plan) open(path string) {
	p.add("--bind", path, path)
	p.pinned[path] = true
}

// show lets path be read where it is hidden.
func (p *plan) show(path string) { p.add("--ro-bind", path, path) }

// fix makes path, which is below root, read-only. The folders between are pinned: who
// could move them away would put others in their place.
func (p *plan) fix(root, path string) {
	var between []string
	for dir := filepath.Dir(path); within(dir, root) && dir != root; dir = filepath.Dir(dir) {
		between = append(between, dir)
	}
	for _, dir := range slices.Backward(between) {
		isFixed := slices.ContainsFunc(p.fixed, func(fixed string) bool { return within(dir, fixed) }) // nothing in there can be moved
		if !p.pinned[dir] && !isFixed {
			p.open(dir)
		}
	}
}

// direct says whether a path has no links, which whoever is behind walls may have made. With one
// there is no plan.
func (p *plan) direct(path string) bool {
	if real(path) == path {
		return true
	}
	p.theirs = path
	return false
}

// fix makes path, which is below root, read-only.
func (p *plan) fix(root, path string) {
	if !p.direct(path) {
		return
	}
	p.pin(root, path)
	p.show(path)
	p.pinned[path] = true
	p.fixed = append(p.fixed, path)
}

// hide empties path.
func (p *plan) hide(path, empty string) {
	p.hidden = append(p.hidden, path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		p.add("--size", "4096", "--tmpfs", path, "--remount-ro", path)
		return
	}
	p.add("--ro-bind", empty, path)
}

// arguments are bubblewrap's for a run.
func (w *Walls) arguments(dir, program string, run Run) (*plan, error) {
	if err := w.checkNamed(); err != nil {
		return nil, err
	}
	empty := filepath.Join(run.TempDir, ".empty")
	if err := os.WriteFile(empty, nil, 0o400); err != nil && !exists(empty) {
		return nil, err
	}
	p := &plan{pinned: map[string]bool{}}
	p.add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent")
	if !run.OnSeat {
		p.add("--new-session")
	}
	if network := w.spec.Network; !network && !run.IsCheck || run.IsCheck && !w.spec.VerifyNetwork {
		p.add("--unshare-net")
	}
	p.add(privileges(w.folder)...)
	p.add("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	size := tempSize()
	for _, room := range rooms {
		if room = real(room); exists(room) {
			p.add("--perms", "1777", "--size", size, "--tmpfs", room)
		}
	}
	p.add("--remount-ro", "/dev")
	w.showNeeded(p, program, run)
	for _, path := range w.hidden() {
		p.hide(path, empty)
	}
	w.temp(p, run, size)
	w.openState(p, run.Agent)
	w.openCaches(p, run)
	for _, path := range w.spec.Write {
		p.open(w.expand(path))
	}
	p.open(w.folder)
	w.openRepository(p)
	for _, path := range w.guards() {
		p.fix(w.folder, path)
	}
	for _, path := range w.spec.Hide { // the last word, in the folder too
		if path = w.expand(path); within(path, w.folder) && exists(path) {
			p.hide(path, empty)
		}
	}
	p.add("--chdir", dir)
	return p, nil
}

// showNeeded brings back what a start needs of the rooms that are emptied.
func (w *Walls) showNeeded(p *plan, program string, run Run) {
	needed := append([]string{w.home, w.self, program, packageOf(real(program))}, openings...)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		needed = append(needed, dir, packageOf(dir))
	}
	for i, path := range needed {
		needed[i] = path
		if path != "" {
			needed = append(needed, real(path))
		}
	}
	slices.SortFunc(needed, func(a, b string) int { return len(a) - len(b) })
	var shown []string
	for _, path := range slices.Compact(needed) {
		if slices.ContainsFunc(shown, func(dir string) bool { return within(path, dir) }) {
			continue // a link that is there can't be mounted on
		}
		if !filepath.IsAbs(path) || slices.Contains(rooms, path) || !slices.ContainsFunc(rooms, func(room string) bool { return within(path, real(room)) }) {
			continue
		}
		if _, err := os.Stat(path); err == nil && !isSocket(path) {
			p.show(path)
			shown = append(shown, path)
		}
	}
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

// temp gives the run a TMPDIR in memory, which is bounded and goes with it. What this
// program and the run hand each other stays shared.
func (w *Walls) temp(p *plan, run Run, size string) {
	p.add("--perms", "0700", "--size", size, "--tmpfs", run.TempDir)
	for _, path := range run.Writable {
		p.open(path)
	}
	for _, path := range run.Readable {
		p.show(path)
	}
}

// openState opens what the agent keeps, but for what of it works outside, too.
func (w *Walls) openState(p *plan, agent Agent) {
	var roots []string
	for _, path := range agent.State {
		path, isDir := w.stateOf(path)
		if path == "" {
			continue
		}
		if isDir && !exists(path) {
			os.MkdirAll(path, 0o700)
		}
		if path = real(path); exists(path) {
			p.open(path)
			roots = append(roots, path)
		}
	}
	for _, path := range agent.Fixed {
		path, _ := w.stateOf(path)
		for _, root := range roots {
			if within(path, root) && exists(path) {
				p.fix(root, path)
			}
		}
	}
}

// stateOf is a path of an Agent's, "" where its variable isn't set.
func (w *Walls) stateOf(path string) (place string, isDir bool) {
	path, isDir = strings.CutSuffix(path, "/")
	if rest, ok := strings.CutPrefix(path, "$"); ok {
		name, below, _ := strings.Cut(rest, "/")
		if path = os.Getenv(name); !filepath.IsAbs(path) {
			return "", isDir
		}
		path = filepath.Join(path, below)
	}
	if strings.HasPrefix(path, "~") && w.home == "" {
		return "", isDir
	}
	return w.expand(path), isDir
}

// openCaches gives the folder caches of its own.
func (w *Walls) openCaches(p *plan, run Run) {
	root := paths.Own("walls")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return
		}
		sum := sha256.Sum256([]byte(w.folder))
		root = filepath.Join(user, "ralph-lsp", "walls", hex.EncodeToString(sum[:8]))
	}
	if os.MkdirAll(root, 0o700) != nil {
		return
	}
	root = real(root)
	p.open(root)
	for _, name := range run.Caches {
		if os.MkdirAll(filepath.Join(root, name), 0o700) == nil {
			p.add("--symlink", filepath.Join(root, name), filepath.Join(run.TempDir, name))
		}
	}
	for _, cache := range caches {
		if usual := w.expand(cache.usual); w.home != "" && !slices.ContainsFunc(w.spec.Write, func(open string) bool { return within(usual, w.expand(open)) }) {
			p.add("--setenv", cache.variable, filepath.Join(root, cache.name))
		}
	}
	if proxy := w.moduleProxy(); proxy != "" {
		p.add("--setenv", "GOPROXY", proxy)
	}
}

// moduleProxy lets Go take the modules that are there already from where they are.
func (w *Walls) moduleProxy() string {
	modules := filepath.Join(os.Getenv("GOPATH"), "pkg", "mod")
	if os.Getenv("GOPATH") == "" {
		modules = w.expand("~/go/pkg/mod")
	}
	if known := os.Getenv("GOMODCACHE"); known != "" {
		modules = known
	}
	modules = filepath.Join(modules, "cache", "download")
	if w.home == "" || !exists(modules) {
		return ""
	}
	others := os.Getenv("GOPROXY")
	if others == "" {
		others = "https://proxy.golang.org,direct"
	}
	return "file://" + modules + "," + others
}

// make makes a folder to mount on where there is none, until Close.
func (w *Walls) make(dir string) {
	if os.Mkdir(dir, 0o755) == nil {
		w.making.Lock()
		defer w.making.Unlock()
		w.made = append(w.made, dir)
	}
}

// guards lists what is read-only in the folder, and makes what nobody is to make.
func (w *Walls) guards() []string {
	for _, name := range guardedDirs {
		if w.tools != nil { // which sees to that itself
			break
		}
		w.make(filepath.Join(w.folder, name))
	}
	var paths []string
	for _, name := range guarded {
		paths = append(paths, filepath.Join(w.folder, name))
	}
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
func (w *Walls) matching(pattern string) (paths []string) {
	if !strings.Contains(pattern, "**") {
		paths, _ = filepath.Glob(filepath.Join(w.folder, pattern)) // one that isn't a pattern names nothing; the configuration refuses it
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
