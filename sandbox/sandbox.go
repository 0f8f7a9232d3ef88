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

// Spec says which walls are wanted. Paths may begin with "~/"; those of Protect are
// relative to the folder and may have * and ? in them.
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
	Secrets       []string // what is hidden besides, and isn't the user's to name; absolute
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
	Agent    Agent
	IsCheck  bool     // it verifies, see Spec.VerifyNetwork
	OnSeat   bool     // it has a terminal of its own, whose keys it needs
	TempDir  string   // its TMPDIR, which outside keeps nothing of it
	Writable []string // of what is in there
	Readable []string
	Caches   []string // names of folders in there that are kept for the next run behind walls
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

// Walls are raised for one folder.
type Walls struct {
	mounts
	told func(Breach)
}

// mounts show a run what it may see, behind bubblewrap.
type mounts struct {
	plot
	bwrap  string
	bounds bounds
	making sync.Mutex // agents of a step start at the same time
	made   []string   // to mount something there, or what the engine Runtime leaves that is killed; guarded by making
}

// plot is what walls are raised around, and what is open there.
type plot struct {
	spec   Spec
	folder string  // without links
	home   string  // the same; "" is unknown
	self   string  // this program
	there  *layout // of homes
	tools  *tools  // of the engine Runtime; nil for Bubblewrap
}

// plotOf is the plot of a folder that is without links.
func plotOf(spec Spec, folder string) plot {
	p := plot{spec: spec, folder: folder}
	if home, err := os.UserHomeDir(); err == nil {
		p.home = real(home)
	}
	return p
}

// Tell has someone told of breaches, on a goroutine of the run's.
func (w *Walls) Tell(told func(Breach)) {
	if w != nil {
		w.told = told
	}
}

// Raise raises walls for a folder, nil where none are wanted. They were tried: an
// *Error says why they can't be had, and then nothing may start.
func Raise(ctx context.Context, spec Spec, folder string) (*Walls, error) {
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
	w := &Walls{mounts: mounts{plot: plotOf(spec, dir)}}
	if self, err := os.Executable(); err == nil {
		w.self = real(self)
	}
	if err := w.fixNamed(); err != nil {
		return nil, err
	}
	if err := w.checkFolder(); err != nil {
		return nil, err
	}
	if err := w.lay(); err != nil {
		return nil, err
	}
	if engine == Runtime {
		if err := w.raiseRuntime(ctx); err != nil {
			w.Close()
			return nil, err
		}
		return w, nil
	}
	if w.bwrap, err = findBubblewrap(w.mayWrite); err != nil {
		return nil, err
	}
	if err = w.bind(); err == nil {
		err = w.try(ctx)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close removes what was made in the folder, as far as it is still empty.
func (w *Walls) Close() {
	if w == nil {
		return
	}
	if w.bounds.group != "" {
		removeGroup(w.bounds.group)
	}
	for _, path := range w.made {
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
			os.Remove(path) // fails for what has something in it
		}
	}
}

// Engine is what raised them, "" for no walls.
func (w *Walls) Engine() string {
	if w == nil {
		return ""
	}
	return w.spec.EngineOf()
}

// Wrap makes cmd one that runs behind the walls. Its folder, streams and attributes stay.
// settle is called when all that it started is gone: it looks after what is read-only.
func (w *Walls) Wrap(cmd *exec.Cmd, run Run) (settle func(), err error) {
	cmd.Env = w.environ(cmd.Environ(), run)
	if w.tools != nil {
		owns, err := w.wrapRuntime(cmd, run)
		if err != nil {
			return nil, err
		}
		var fixed []string
		if r, ok := findRepository(w.folder); ok {
			fixed = slices.Concat(w.leadsTo(r), w.submodules(r))
		}
		return both(owns, w.watch(fixed)), nil
	}
	p, release, err := w.wrapBubblewrap(cmd, run)
	if err != nil {
		return nil, err
	}
	compare := both(p.owns, w.watch(p.fixed))
	return func() { release(); compare() }, nil
}

// both settles what a run had for its agent's own, and what walls look after.
func both(owns *ownDirs, settle func()) func() {
	owns.keep()
	return func() {
		owns.settle()
		settle()
	}
}

// checkFolder refuses a folder that leaves no walls to be had, and paths that can't be opened.
func (w *plot) checkFolder() error {
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
func (w *plot) makeWritable(path string) error {
	if path == "/" || w.home != "" && within(w.home, path) {
		return errors.New("your home folder is in it")
	}
	if exists(path) {
		return nil
	}
	return os.MkdirAll(path, 0o755)
}

// mayWrite says whether something behind the walls could write a path.
func (w *plot) mayWrite(path string) bool {
	path = real(path)
	return slices.ContainsFunc(append([]string{w.folder}, w.spec.Write...), func(open string) bool { return within(path, w.expand(open)) })
}

// Opens says whether an agent behind walls around folder may write a path, which is absolute.
func (s Spec) Opens(folder, path string) bool {
	if !s.IsOn() {
		return false
	}
	p := plotOf(s, real(folder))
	return p.mayWrite(real(path))
}

// expand is a path of the configuration, without links.
func (w *plot) expand(path string) string {
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
func (w *Walls) Hides(path string) bool { return w != nil && w.isHidden(real(path)) }

// Guards says whether a path in the folder is one that nobody behind the walls may write there, or make unseen.
func (w *Walls) Guards(name string) bool {
	return w != nil && (isObeyed(name) || slices.ContainsFunc(w.spec.Protect,
		func(pattern string) bool { return verify.Matches(pattern, name) }))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
