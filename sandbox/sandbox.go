package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// Modes of a Spec.
const (
	Off       = "off"
	Workspace = "workspace"
)

// Engines that raise walls.
const (
	Bubblewrap = "bubblewrap"
	Runtime    = "sandbox-runtime"
)

// Spec says which walls are wanted. Paths may begin with "~/"; the patterns of Protect are relative to the folder and
// may have * and ? in them.
type Spec struct {
	Mode          string // Workspace; "" and Off are none
	Engine        string // "" is Bubblewrap on Linux, else Runtime
	Network       bool   // of agents
	VerifyNetwork bool   // of what verifies their work
	Write         []string
	Read          []string // of the home
	Hide          []string
	Protect       []string
	Hosts         []string // that may be reached; Runtime only
	Env           []string // names of variables that pass, with * for any rest
	Processes     int      // that a run may have at once; 0: as many as no build has
	MemoryMB      int      // that they may take together; 0: most of the machine's
	Secrets       []string // more hidden paths, which the user can't change; absolute
}

// IsOn says whether there are to be walls.
func (s Spec) IsOn() bool { return s.Mode == Workspace }

// EngineOf is the engine that s wants.
func (s Spec) EngineOf() string {
	switch {
	case s.Engine != "":
		return s.Engine
	case len(s.Hosts) > 0:
		return Runtime
	case runtime.GOOS == "linux":
		return Bubblewrap
	}
	return Runtime
}

// Agent is what one agent needs inside, as data of its backend.
type Agent struct {
	// Own are the folders that it keeps for itself.
	Own []Own
	// Env are the variables that it reads, with * for any rest.
	Env []string
}

// Run is one start behind walls.
type Run struct {
	Agent       Agent
	IsCheck     bool     // it verifies, see Spec.VerifyNetwork
	HasTerminal bool     // it has a terminal of its own, whose keys it needs
	TempDir     string   // its TMPDIR, which outside keeps nothing of it
	Writable    []string // of what is in there
	Readable    []string
	Caches      []string // names of folders in there that are kept for the next run behind walls
}

// Error says what keeps walls from being raised, and what to do about it.
type Error struct{ What, Why, Fix string }

func (e *Error) Error() string {
	text := e.What + ": " + e.Why
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Sandbox confines what runs in one folder.
type Sandbox struct {
	site   *site
	engine engine
	guard  guard
}

// engine is what raises walls.
type engine interface {
	// raise tries the walls; an *Error says why they can't be had.
	raise(ctx context.Context) error
	// wrap makes cmd one that runs behind the walls.
	wrap(cmd *exec.Cmd, run Run) (wrapped, error)
	// observed is what the engine itself has seen refused since the last time.
	observed() []Refusal
	// close removes what was made for the walls.
	close()
}

// wrapped is what a run behind walls has until it is over.
type wrapped struct {
	owns    *ownDirs
	fixed   []string // paths that are read-only for it
	hidden  []string // and those that are empty for it
	release func()   // lets go of what had to stay
}

// mounts are walls of the engine Bubblewrap: they show a run what it may see.
type mounts struct {
	*site
	bwrap  string
	bounds bounds
	made   made
}

// made are what walls have in the folder to mount something there, as long as they stand.
type made struct {
	mu    sync.Mutex // agents of a step start at the same time
	paths []string
}

func (m *made) add(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paths = append(m.paths, path)
}

// dir makes a folder to mount on where there is none.
func (m *made) dir(path string) {
	if os.Mkdir(path, 0o755) == nil {
		m.add(path)
	}
}

// remove removes what is still empty.
func (m *made) remove() {
	for _, path := range m.paths {
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
			os.Remove(path) // fails for what has something in it
		}
	}
}

// site is a folder that gets a sandbox, and what stays open around it.
type site struct {
	spec   Spec
	folder string  // without links
	home   string  // the same; "" is unknown
	self   string  // this program
	there  *layout // of homes
}

// siteOf returns the site of a folder whose path has no links.
func siteOf(spec Spec, folder string) *site {
	p := &site{spec: spec, folder: folder}
	if home, err := os.UserHomeDir(); err == nil {
		p.home = real(home)
	}
	return p
}

// OnBreach sets the function that hears of breaches, on a goroutine of the run's.
func (w *Sandbox) OnBreach(told func(Breach)) {
	if w != nil {
		w.guard.onBreach = told
	}
}

// Raise raises walls for a folder, nil where none are wanted. They were tried: an
// *Error says why they can't be had, and then nothing may start.
func Raise(ctx context.Context, spec Spec, folder string) (*Sandbox, error) {
	if !spec.IsOn() {
		return nil, nil
	}
	engine := spec.EngineOf()
	if engine != Bubblewrap && engine != Runtime {
		return nil, &Error{cantRaise, fmt.Sprintf("there is no engine %q here", engine), `say engine = "bubblewrap" below [sandbox]`}
	}
	if len(spec.Hosts) > 0 && engine == Bubblewrap {
		return nil, &Error{cantRaise, "bubblewrap can't tell hosts apart", `say engine = "sandbox-runtime" below [sandbox], or take hosts out`}
	}
	if engine == Runtime && (spec.Processes > 0 || spec.MemoryMB > 0) {
		return nil, &Error{cantRaise, "sandbox-runtime bounds neither processes nor memory", "take processes and memory_mb out " +
			"of [sandbox], or what needs that engine"}
	}
	dir, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, &Error{cantRaise, err.Error(), ""}
	}
	p := siteOf(spec, dir)
	if self, err := os.Executable(); err == nil {
		p.self = real(self)
	}
	for _, prepare := range []func() error{p.fixNamed, p.checkFolder, p.lay} {
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	w := &Sandbox{site: p, engine: &mounts{site: p}, guard: guard{site: p}}
	if engine == Runtime {
		w.engine = &packaged{site: p}
	}
	if err := w.engine.raise(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// raise implements engine.
func (w *mounts) raise(ctx context.Context) (err error) {
	if w.bwrap, err = findBubblewrap(w.mayWrite); err != nil {
		return err
	}
	if err = w.bind(); err == nil {
		err = w.try(ctx)
	}
	return err
}

func (w *mounts) observed() []Refusal { return nil }

func (w *mounts) close() {
	if w.bounds.group != "" {
		removeGroup(w.bounds.group)
	}
	w.made.remove()
}

// Close removes what was made in the folder, as far as it is still empty.
func (w *Sandbox) Close() {
	if w != nil {
		w.engine.close()
	}
}

// Observed is what the engine itself has seen refused since the last time.
func (w *Sandbox) Observed() []Refusal {
	if w == nil {
		return nil
	}
	return w.engine.observed()
}

// Engine is what raised them, "" for no walls.
func (w *Sandbox) Engine() string {
	if w == nil {
		return ""
	}
	return w.site.spec.EngineOf()
}

// Wrap makes cmd one that runs behind the walls. Its folder, streams and attributes stay.
// settle is called when all that it started is gone: it looks after what is read-only.
func (w *Sandbox) Wrap(cmd *exec.Cmd, run Run) (settle func(), err error) {
	cmd.Env = w.site.environ(cmd.Environ(), run)
	around, err := w.engine.wrap(cmd, run)
	if err != nil {
		return nil, err
	}
	around.owns.keep()
	compare := w.guard.watch(around.fixed)
	return func() {
		around.release()
		around.owns.settle()
		compare()
	}, nil
}

// checkFolder refuses a folder that leaves no walls to be had, and paths that can't be opened.
func (w *site) checkFolder() error {
	if w.home != "" && within(w.home, w.folder) || w.folder == "/" {
		return &Error{"the sandbox can't be raised around " + w.folder, "your home folder is in it, so an agent that may write " +
			"there may write everything",
			"start the loop in a folder below it"}
	}
	for _, path := range w.hidden() {
		if within(w.folder, path) {
			return &Error{"the sandbox can't be raised around " + w.folder, path + " doesn't exist inside", "start the loop in another folder"}
		}
	}
	for _, path := range w.spec.Write {
		if err := w.makeWritable(w.expand(path)); err != nil {
			return &Error{"the sandbox can't open " + path, err.Error(), "make it, or take it out of [sandbox] write"}
		}
	}
	return nil
}

// makeWritable makes a folder that the user wants to be written to and that isn't there yet.
func (w *site) makeWritable(path string) error {
	if path == "/" || w.home != "" && within(w.home, path) {
		return errors.New("your home folder is in it")
	}
	if exists(path) {
		return nil
	}
	return os.MkdirAll(path, 0o755)
}

// mayWrite says whether something behind the walls could write a path.
func (w *site) mayWrite(path string) bool {
	path = real(path)
	return slices.ContainsFunc(append([]string{w.folder}, w.spec.Write...), func(open string) bool { return within(path, w.expand(open)) })
}

// Opens says whether an agent behind walls around folder may write a path, which is absolute.
func (s Spec) Opens(folder, path string) bool {
	if !s.IsOn() {
		return false
	}
	return siteOf(s, real(folder)).mayWrite(real(path))
}

// expand is a path of the configuration, without links.
func (w *site) expand(path string) string {
	return real(w.named(path))
}

// real is path without links, as far as it exists; "" stays what it is.
func real(path string) string {
	if path == "" { // else it would be the working directory
		return ""
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(real(dir), filepath.Base(path))
	}
	return path
}

// withinAny says whether path is one of some folders or below it.
func withinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}

// within says whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// Hides says whether a path, which is absolute, is kept from being read behind the walls.
func (w *Sandbox) Hides(path string) bool { return w != nil && w.site.isHidden(real(path)) }

// Guards says whether a path in the folder is one that nobody behind the walls may write there, or make unseen.
func (w *Sandbox) Guards(name string) bool {
	return w != nil && (isToolConfig(name) || slices.ContainsFunc(w.site.spec.Protect,
		func(pattern string) bool { return verify.Matches(pattern, name) }))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
