package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Own is a folder that an agent keeps for itself. Files that it makes there run outside, or are trusted there. So
// each run gets another one in its place, which goes with the run.
type Own struct {
	// Path is where the folder is, beginning with "~" or "$NAME", where no Variable says so.
	Path     string
	Variable string
	// Read are names in it that are there: files as copies, folders read-only. A * stands for
	// anything in a name.
	Read []string
	// Beside is a file of the same kind that is elsewhere where no Variable is set.
	Beside string
	// Kept is where it has a folder for each project that its user keeps who sits at it, with a slash
	// behind; "" is nowhere. A project's folder has the name of its path, with a - for all but
	// letters and digits.
	Kept string
	// Login is a file in it of which Tokens are taken over when the agent renewed them, by
	// their keys. All else in it runs or allows something outside, too.
	Login  string
	Tokens []string
}

// maxOwn bounds a file that is copied for a run, in bytes.
const maxOwn = 16 << 20

// place is where o is, and what its variable would say of it.
func (o Own) place(l *layout) (dir, beside string) {
	if dir = os.Getenv(o.Variable); o.Variable != "" && filepath.IsAbs(dir) {
		return real(dir), ""
	}
	if dir = l.placeOf(o.Path); dir == "" {
		return "", ""
	}
	if o.Beside != "" {
		beside = l.placeOf(o.Beside)
	}
	return real(dir), real(beside)
}

// ownDirs are the folders that a run has in the place of its agent's.
type ownDirs struct {
	dirs   []string
	logins []*login
	stop   chan struct{}
	ended  chan struct{}
}

// openOwn puts folders of the run's in the place of those that its agent keeps.
func (w *mounts) openOwn(p *mountList, run Run) (owns *ownDirs, err error) {
	owns = &ownDirs{}
	defer owns.settleFailed(&err)
	for _, o := range run.Agent.Own {
		dir, beside := o.place(w.there)
		if dir == "" || w.mayWrite(dir) {
			continue
		}
		private, entries, err := owns.fill(o, dir, run)
		if err != nil {
			return nil, err
		}
		p.add("--bind", private, dir)
		for _, entry := range entries {
			p.add("--ro-bind", real(filepath.Join(dir, entry)), filepath.Join(dir, entry))
		}
		if o.Kept != "" && run.HasTerminal {
			if kept := filepath.Join(dir, o.Kept, projectName(w.folder)); os.MkdirAll(kept, 0o700) == nil {
				p.open(kept)
			}
		}
		if content, err := readBounded(beside, maxOwn); beside != "" && err == nil {
			if err := p.put(run, beside, content, "--bind"); err != nil {
				return nil, err
			}
		}
	}
	return owns, nil
}

// projectName is a folder's name below Own.Kept.
func projectName(folder string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, folder)
}

// fill makes the folder that a run has in the place of dir. entries are the folders of dir
// that are still to be shown in it.
func (owns *ownDirs) fill(o Own, dir string, run Run) (private string, entries []string, err error) {
	if private, err = os.MkdirTemp(run.TempDir, ".own-"); err != nil {
		return "", nil, err
	}
	owns.dirs = append(owns.dirs, private)
	for _, path := range o.found(dir) {
		name := filepath.Base(path)
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			entries = append(entries, name)
		case info.Mode().IsRegular():
			content, err := readBounded(path, maxOwn)
			if err != nil {
				continue // the agent says that it can't read it
			}
			if err := regular.Write(filepath.Join(private, name), content, info.Mode().Perm()|0o600); err != nil {
				return "", nil, err
			}
			if name == o.Login {
				if err := owns.addLogin(private, real(path), content, o.Tokens); err != nil {
					return "", nil, err
				}
			}
		}
	}
	return private, entries, nil
}

// settle takes over what is to be, and removes the rest.
func (owns *ownDirs) settle() {
	if owns.stop != nil {
		close(owns.stop)
		<-owns.ended
	}
	for _, l := range owns.logins {
		l.sync(true)
		l.inside.Close()
	}
	for _, dir := range owns.dirs {
		os.RemoveAll(dir)
	}
}

// settleFailed settles where nothing comes of it.
func (owns *ownDirs) settleFailed(err *error) {
	if *err != nil {
		owns.settle()
	}
}

// ownByVariable does the same by telling the agent where it is, for the engine that mounts
// nothing. On a Mac logins are by the folder's name, so there it is read-only.
func (w *site) ownByVariable(run Run) (owns *ownDirs, env, read []string, err error) {
	owns = &ownDirs{}
	defer owns.settleFailed(&err)
	for _, o := range run.Agent.Own {
		dir, beside := o.place(w.there)
		switch {
		case dir == "":
		case o.Variable == "" || runtime.GOOS == "darwin":
			for _, path := range append(o.found(dir), beside) {
				read = append(read, real(path))
			}
		default:
			private, entries, err := owns.fill(o, dir, run)
			if err != nil {
				return nil, nil, nil, err
			}
			for _, entry := range entries {
				at := real(filepath.Join(dir, entry))
				read = append(read, at)
				if err := os.Symlink(at, filepath.Join(private, entry)); err != nil {
					return nil, nil, nil, err
				}
			}
			if content, err := readBounded(beside, maxOwn); beside != "" && err == nil {
				regular.Write(filepath.Join(private, filepath.Base(beside)), content, 0o600)
			}
			env = append(env, o.Variable+"="+private)
		}
	}
	return owns, env, read, nil
}

// found lists what is there of the names that o has in its folder. A name of the folder's own is no pattern.
func (o Own) found(dir string) (paths []string) {
	for _, pattern := range append([]string{o.Login}, o.Read...) {
		names, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

var errNoFile = errors.New("it is no file, or too large")

// readBounded reads a file of the user's.
func readBounded(path string, limit int64) ([]byte, error) {
	content, err := regular.Read(path, limit)
	if err == nil && int64(len(content)) > limit {
		return nil, errNoFile
	}
	return content, err
}
