package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

const ext = ".md"

// What is looked at is bounded.
const (
	maxFile    = 64 << 10 // bytes of a file
	maxFiles   = 500      // of one folder
	maxEntries = 20000    // the same, other files and folders among them
	maxDepth   = 8        // of folders in it
)

// reader reads folders with agents.
type reader struct {
	agents   []Agent
	problems []FileProblem
}

func (r *reader) report(file, format string, args ...any) *FileProblem {
	r.problems = append(r.problems, FileProblem{File: file, Message: fmt.Sprintf(format, args...)})
	return &r.problems[len(r.problems)-1]
}

// readFolder reads those that a project's folder brings along. None is read that is
// outside, wherever links lead: nobody has said that the folder may show it to an agent.
func (r *reader) readFolder(b backends.Backend, folder string) {
	root, err := regular.OpenRoot(folder)
	if err != nil {
		return // there is no such folder, which others say
	}
	defer root.Close()
	home, _ := os.UserHomeDir()
	dir := filepath.Join(folder, b.Agents.Folder, "agents")
	if paths.Real(dir) == paths.Real(filepath.Join(userDir(b.Agents, home), "agents")) {
		return // the folder is the user's own
	}
	r.walk(b, source{root, ""}, path.Join(b.Agents.Folder, "agents"), func(name string) string {
		return filepath.Join(folder, filepath.FromSlash(name))
	}, true)
}

// source has files, and anything may be in their place.
type source struct {
	root *os.Root // nil: they are the user's, whose links may lead anywhere
	dir  string   // where they are then
}

func (s source) at(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s source) read(name string) ([]byte, error) {
	if s.root != nil {
		return regular.ReadIn(s.root, s.at(name), maxFile)
	}
	return regular.Read(s.at(name), maxFile)
}

func (s source) list(dir string) ([]fs.DirEntry, error) {
	entries, _, err := regular.DirIn(s.root, s.at(dir), maxEntries+1)
	return entries, err
}

func (s source) stat(name string) (fs.FileInfo, error) {
	if s.root != nil {
		return s.root.Stat(s.at(name))
	}
	return regular.Stat(s.at(name))
}

// walk reads the files below a folder, in the order of their names.
func (r *reader) walk(b backends.Backend, tree source, top string, abs func(string) string, isFolder bool) {
	files, entries := 0, 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		list, err := tree.list(dir)
		if err != nil {
			if depth > 0 || !errors.Is(err, fs.ErrNotExist) {
				r.report(abs(dir), "can't be read: %v", bare(abs(dir), err))
			}
			return
		}
		for _, entry := range list {
			name := path.Join(dir, entry.Name())
			if entries++; entries > maxEntries {
				return
			}
			isFile := path.Ext(name) == ext
			switch info, err := tree.stat(name); {
			case err != nil && (isFile || entry.Type()&fs.ModeSymlink == 0):
				r.report(abs(name), "can't be read: %v%s", bare(abs(name), err), inFolder(isFolder))
			case err != nil:
			case info.IsDir() && b.Agents.Deep && entry.IsDir() && depth < maxDepth: // links could turn in circles
				look(name, depth+1)
			case info.IsDir() || !isFile:
			default:
				if files++; files <= maxFiles {
					r.readFile(b, tree, name, abs(name), isFolder)
				}
			}
		}
	}
	look(top, 0)
	if files > maxFiles || entries > maxEntries {
		r.report(abs(top), "has more than %d files, or %d with all others in it; only the first are read", maxFiles, maxEntries).IsWarning = true
	}
}

func inFolder(isFolder bool) string {
	if isFolder {
		return "; a link in the folder has to stay in it"
	}
	return ""
}

// bare is an error without the path that is said beside it.
func bare(file string, err error) error {
	err = paths.Outside("", file, err)
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

func (r *reader) readFile(b backends.Backend, tree source, name, file string, isFolder bool) {
	data, err := tree.read(name)
	switch {
	case errors.As(err, &regular.SizeError{}):
		r.report(file, "is larger than %d KiB; shorten it", maxFile>>10)
		return
	case err != nil:
		r.report(file, "can't be read: %v", bare(file, err))
		return
	}
	agent, problems := parse(data, b.Agents.Loose)
	isBroken := false
	for _, p := range problems {
		p.File = file
		r.problems = append(r.problems, p)
		isBroken = isBroken || !p.IsWarning
	}
	if !isBroken && agent.Name != "" {
		agent.Backend, agent.File, agent.IsFolder, agent.Data = b.Name, file, isFolder, data
		r.agents = append(r.agents, agent)
	}
}

// set is what was read, with what one agent hides.
func (r *reader) set() Set {
	first := map[string]Agent{}
	for _, a := range r.agents {
		if winner, ok := first[a.Name]; !ok {
			first[a.Name] = a
		} else {
			r.problems = append(r.problems, FileProblem{File: a.File, IsWarning: true,
				Message: fmt.Sprintf("%s is hidden by %s, which has the same name", a.Name, winner.File)})
		}
	}
	slices.SortStableFunc(r.problems, func(a, b FileProblem) int { return rank(!a.IsWarning) - rank(!b.IsWarning) })
	return Set{Agents: r.agents, Problems: r.problems}
}
