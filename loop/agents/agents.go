package agents

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Agent is one of these files.
type Agent struct {
	Name, Description string
	Tools             []string // those that it has; nil: all
	Denied            []string // those that it hasn't
	Model             string   // "" leaves the choice to who starts it
	Mode              string   // what it may do without asking, in its backend's words; "" as its backend's default
	Ignored           []string // keys of the front matter that nobody here understands
	Instructions      string

	Backend  string // whose file it is
	File     string // absolute
	IsFolder bool   // it came with the folder, and counts only when its user trusts it
	Data     []byte // all of the file, which is what can be trusted
}

// FileProblem is what is wrong with a file, or what its reader should know of it.
type FileProblem struct {
	File      string
	Line      int // 1-based; 0: all of it
	Message   string
	IsWarning bool // the agent can be used all the same, or the file isn't meant to be one
}

// String is the problem in one line.
func (p FileProblem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Set is all agents that could be read, those that win before those that they hide.
type Set struct {
	Agents   []Agent
	Problems []FileProblem
}

// UnknownError says that there is no agent of a name.
type UnknownError struct {
	Name   string
	Known  []string
	Broken []FileProblem // files that may be meant
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("there is no agent %q: ", e.Name)
	switch {
	case len(e.Known) > 0:
		text += format.Known(e.Name, e.Known)
	default:
		text += "describe it in a markdown file, such as .pi/agents/NAME.md or .claude/agents/NAME.md"
	}
	for _, p := range e.Broken {
		text += "; " + p.String()
	}
	return text
}

// Find returns the agent of a name: the folder's before the user's, and of those one for a
// backend, which may be "", before others. hidden are the files of others of that name.
func (s Set) Find(name, backend string) (found Agent, hidden []string, err error) {
	same := slices.DeleteFunc(slices.Clone(s.Agents), func(a Agent) bool { return a.Name != name })
	if len(same) == 0 {
		return found, nil, s.unknown(name)
	}
	slices.SortStableFunc(same, func(a, b Agent) int {
		return cmp.Or(rank(a.IsFolder)-rank(b.IsFolder), rank(a.Backend == backend)-rank(b.Backend == backend))
	})
	for _, a := range same[1:] {
		hidden = append(hidden, a.File)
	}
	return same[0], hidden, nil
}

func rank(isFirst bool) int {
	if isFirst {
		return 0
	}
	return 1
}

// Names lists the agents by name.
func (s Set) Names() []string {
	var names []string
	for _, a := range s.Agents {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s Set) unknown(name string) error {
	e := &UnknownError{Name: name, Known: s.Names()}
	for _, p := range s.Problems {
		if strings.EqualFold(strings.TrimSuffix(filepath.Base(p.File), ext), name) {
			e.Broken = append(e.Broken, p)
		}
	}
	return e
}

// Read reads the agents of a folder, and those of the user. A folder "" has none.
func Read(folder string) Set {
	home, _ := os.UserHomeDir() // without one there is only what the environment names
	var r reader
	for _, of := range []bool{true, false} {
		for _, b := range backends.All() {
			switch where := b.Agents; {
			case where == backends.AgentFiles{}:
			case of && folder != "":
				r.readFolder(b, folder)
			case !of:
				if dir := userDir(where, home); dir != "" { // the user may have put links there
					dir = filepath.Join(dir, "agents")
					user := source{nil, dir}
					r.walk(b, user, ".", user.at, false)
				}
			}
		}
	}
	return r.set()
}

// userDir is the folder of the user's in which an agent keeps such files and others.
func userDir(where backends.AgentFiles, home string) string {
	dir := os.Getenv(where.Env)
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		dir = filepath.Join(home, rest)
	}
	if dir == "" && home != "" {
		dir = filepath.Join(home, filepath.FromSlash(where.Home))
	}
	return dir
}
