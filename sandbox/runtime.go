package sandbox

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// tools are the programs that the engine Runtime needs. Those who are to be walled can't
// have put one of them where it is.
type tools struct {
	node, index        string // index: of the package
	bwrap, socat, grep string // Linux only; grep is ripgrep

	mu   sync.Mutex
	logs map[string]int64 // where runs write what was refused, and how much of it was read
}

//go:embed runtime.mjs
var runtimeScript string

// placeholders are what the package makes in the folder to mount something there. A run that is killed leaves them.
var placeholders = []string{".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile",
	".ripgreprc", ".mcp.json", ".vscode", ".idea", ".claude", "ralph.toml", ".envrc"}

const installRuntime = "npm install -g @anthropic-ai/sandbox-runtime"

// findTools looks for them in PATH.
func findTools(isTheirs func(path string) bool) (*tools, error) {
	t := &tools{logs: map[string]int64{}}
	var srt string
	for _, n := range []struct {
		name, of, fix string
		to            *string
		isLinux       bool // it is needed there only
	}{
		{"srt", "sandbox-runtime", "install it: " + installRuntime, &srt, false},
		{"node", "node", "install node 22.12 or newer", &t.node, false},
		{"rg", "ripgrep", "install it (Debian, Ubuntu: apt install ripgrep; macOS: brew install ripgrep)", &t.grep, false},
		{"socat", "socat", "install it (Debian, Ubuntu: apt install socat)", &t.socat, true},
		{"bwrap", "bubblewrap", "install it (Debian, Ubuntu: apt install bubblewrap)", &t.bwrap, true},
	} {
		if n.isLinux && runtime.GOOS != "linux" {
			continue
		}
		path, err := lookFor(n.name, isTheirs, Error{cantRaise, n.of + " is not installed", n.fix})
		if err != nil {
			return nil, err
		}
		*n.to = path
	}
	t.index = filepath.Join(filepath.Dir(real(srt)), "index.js")
	if !exists(t.index) {
		return nil, &Error{cantRaise, srt + " is no program of @anthropic-ai/sandbox-runtime", "install that: " + installRuntime}
	}
	return t, nil
}

// lookFor finds a program in PATH that isn't theirs. The error is missing where there is none at all.
func lookFor(name string, isTheirs func(path string) bool, missing Error) (string, error) {
	theirs := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		case !isTheirs(path) && !isTheirs(real(path)):
			return path, nil
		case theirs == "":
			theirs = path
		}
	}
	if theirs != "" {
		missing.Why = fmt.Sprintf("the only %s in PATH is %s, where the agent may write: it could put another program in its place", name, theirs)
		missing.Fix = "start the loop in another folder, open none with [sandbox] write that has this program, or install it elsewhere"
	}
	return "", &missing
}

// settings are the settings of the package, as far as they are used here.
type settings struct {
	Open    bool `json:"open"` // ours: no host is refused
	Network struct {
		Allowed []string `json:"allowedDomains"`
		Denied  []string `json:"deniedDomains"`
		Strict  bool     `json:"strictAllowlist,omitempty"`
	} `json:"network"`
	Files struct {
		DenyRead   []literal `json:"denyRead"`
		AllowRead  []literal `json:"allowRead"`
		AllowWrite []literal `json:"allowWrite"`
		DenyWrite  []literal `json:"denyWrite"`
	} `json:"filesystem"`
	Bwrap   string   `json:"bwrapPath,omitempty"`
	Socat   string   `json:"socatPath,omitempty"`
	Ripgrep *command `json:"ripgrep,omitempty"`
}

// literal is a path that is no pattern, even if its name looks like one.
type literal struct {
	Path    string `json:"path"`
	Literal bool   `json:"literal"`
}

type command struct {
	Command string `json:"command"`
}

// packaged are walls of the engine Runtime.
type packaged struct {
	*site
	*tools
	made made
}

func (w *packaged) close() { w.made.remove() }

// settings says to the package what the walls are to be for a run.
func (w *packaged) settings(run Run, program string, read []string, log string) settings {
	s := settings{Bwrap: w.bwrap, Socat: w.socat, Ripgrep: &command{w.grep}}
	network := w.spec.Network
	if run.IsCheck {
		network = w.spec.VerifyNetwork
	}
	s.Network.Allowed, s.Network.Denied = []string{}, []string{}
	s.Network.Strict = !network || len(w.spec.Hosts) > 0
	if s.Open = !s.Network.Strict; network {
		s.Network.Allowed = append(s.Network.Allowed, w.spec.Hosts...)
	}
	write := []string{w.folder, run.TempDir}
	for _, path := range w.spec.Write {
		write = append(write, w.expand(path))
	}
	write = append(write, run.Writable...)
	keep := append(w.readOnly(), run.Readable...)
	for _, path := range w.guarded() { // of those that aren't there, some can't be made, either
		top, _, _ := strings.Cut(strings.TrimPrefix(path, w.folder+"/"), "/")
		if exists(path) || top == ".pi" || slices.Contains(placeholders, top) {
			keep = append(keep, path)
		}
	}
	if r, ok := w.repository(); ok {
		write = append(write, r.own, r.common)
		for _, path := range slices.Concat(r.leadsTo(w.folder), r.submodules(w.folder)) {
			if exists(path) {
				keep = append(keep, path)
			}
		}
		for _, dir := range []string{r.own, r.common} {
			keep = append(keep, filepath.Join(dir, "hooks"), filepath.Join(dir, "config"), filepath.Join(dir, "ralph"))
			// git can't do with what would stand in their place
			for _, name := range []string{"config.worktree", "commondir", "gitdir", "ralph.json"} {
				if path := filepath.Join(dir, name); exists(path) {
					keep = append(keep, path)
				}
			}
		}
	}
	if log != "" {
		keep = append(keep, filepath.Dir(log))
	}
	for _, o := range w.there.forProgram(program).opened {
		if o.Way == string(asItIs) || isWithoutLogins(o.Path) {
			read = append(read, o.Path)
		}
	}
	s.Files.DenyRead, s.Files.AllowRead = literals(slices.Concat(w.there.homes, w.hidden())), literals(slices.Concat(read, write))
	s.Files.AllowWrite, s.Files.DenyWrite = literals(write), literals(keep)
	return s
}

func literals(paths []string) []literal {
	list := []literal{}
	for _, path := range paths {
		if l := (literal{path, true}); filepath.IsAbs(path) && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// wrap implements engine.
func (w *packaged) wrap(cmd *exec.Cmd, run Run) (wrapped, error) {
	owns, err := w.wrapOwn(cmd, run)
	if err != nil {
		return wrapped{}, err
	}
	var fixed []string
	if r, ok := findRepository(w.folder); ok {
		fixed = slices.Concat(r.leadsTo(w.folder), r.submodules(w.folder))
	}
	return wrapped{owns: owns, fixed: fixed, release: func() {}}, nil
}

// wrapOwn makes cmd one that the package runs.
func (w *packaged) wrapOwn(cmd *exec.Cmd, run Run) (*ownDirs, error) {
	if err := w.checkNamed(); err != nil {
		return nil, err
	}
	log := filepath.Join(run.TempDir, ".refused", "log")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return nil, err
	}
	if err := regular.Write(log, nil, 0o600); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.logs[log] = 0
	w.mu.Unlock()
	owns, env, read, err := w.ownByVariable(run)
	if err != nil {
		return nil, err
	}
	said, err := json.Marshal(w.settings(run, cmd.Path, read, log))
	if err != nil {
		owns.settle()
		return nil, err
	}
	cmd.Env = append(append(cmd.Env, env...), "NODE_USE_ENV_PROXY=1") // else node's own requests would pass the proxy by, and reach nothing
	cmd.Args = slices.Concat([]string{w.node, "--input-type=module", "-e", runtimeScript, "--", w.index,
		string(said), log, cmd.Path}, cmd.Args[1:])
	cmd.Path = w.node
	return owns, nil
}

// raise tries the walls with a program that does nothing.
func (w *packaged) raise(ctx context.Context) (err error) {
	if w.tools, err = findTools(w.mayWrite); err != nil {
		return err
	}
	for _, name := range placeholders {
		if path := filepath.Join(w.folder, name); !exists(path) {
			w.made.add(path)
		}
	}
	return inScratch(func(dir string) error {
		cmd, err := nothing(ctx, w.folder)
		if err != nil {
			return err
		}
		cmd.Env = os.Environ()
		if _, err := w.wrapOwn(cmd, Run{TempDir: dir}); err != nil {
			return &Error{cantRaise, err.Error(), ""}
		}
		if said := complaintOf(cmd); said != "" {
			return refusal(Runtime, w.bwrap, said)
		}
		return nil
	})
}

// violation is a line of the package's: "deny openat /etc/hosts", "deny(1) file-write-create /etc/hosts",
// "deny network-outbound example.com:443 (no rule)".
var violation = lazy.Regexp(`^(?:.*? )?deny(?:\(\d+\))? (\S+) (.+)$`)

// observed implements engine.
func (w *packaged) observed() (found []Refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, read := range w.logs {
		data, err := regular.Head(name, regular.Long)
		if err != nil || int64(len(data)) <= read {
			continue
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		w.logs[name] = int64(end)
		for said := range bytes.Lines(data[min(int(read), end):end]) {
			var line string
			if json.Unmarshal(said, &line) != nil {
				continue
			}
			if r := w.classed(refusalIn(line)); r.Path != "" && !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	return found
}

func refusalIn(line string) Refusal {
	m := violation().FindStringSubmatch(line)
	switch {
	case m == nil:
		return Refusal{}
	case strings.HasPrefix(m[1], "network"):
		host, _, _ := strings.Cut(m[2], " (")
		return Refusal{host, Reach}
	case strings.HasPrefix(m[1], "file-read"):
		return Refusal{m[2], Read}
	case !filepath.IsAbs(m[2]):
		return Refusal{}
	}
	return Refusal{m[2], Write}
}
