package changes

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// write writes the files. It refuses a file that isn't as the snapshot of a moment ago has it.
func (p *restoration) write(ctx context.Context) error {
	root, err := regular.OpenRoot(p.in.book.Folder)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close()
	w := writer{in: p.in, root: root, before: map[string]stamp.Trace{}}
	for _, name := range slices.Sorted(maps.Keys(p.then)) {
		if why := w.observe(name, p.now[name]); why != "" {
			p.refuse(name, why)
		}
	}
	seen, err := p.files.look(ctx, unbounded) // since the snapshot
	if err != nil {
		return err
	}
	for _, changed := range seen.paths {
		name := strings.TrimPrefix(changed, p.in.book.prefix())
		if _, ours := p.then[name]; ours {
			p.refuse(name, whyNow)
		}
	}
	w.exported = filepath.Join(p.in.home, exportName+rand.Text())
	defer os.RemoveAll(w.exported)
	if err := p.export(ctx, w.exported); err != nil {
		return err
	}
	if err := w.announce(p); err != nil {
		return err
	}
	defer p.in.clearWorks()
	for _, name := range w.order(p) {
		if why := w.write(name, p.then[name]); why != "" {
			p.refuse(name, why)
		}
	}
	return nil
}

// export has git write the files into a folder of our own, through the filters
// that its checkout has.
func (p *restoration) export(ctx context.Context, dir string) error {
	var info, names bytes.Buffer
	for name, v := range p.then {
		if v != (version{}) {
			fmt.Fprintf(&info, "%s %s\t%s%s\x00", v.mode, v.oid, p.in.book.prefix(), name)
			fmt.Fprintf(&names, "%s%s\x00", p.in.book.prefix(), name)
		}
	}
	if names.Len() == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing files: %w", err)
	}
	index := dir + ".index"
	defer os.Remove(index)
	g := p.in.git.With("GIT_INDEX_FILE=" + index)
	if _, err := g.Run(ctx, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	_, err := g.Run(ctx, names.Bytes(), "checkout-index", "-z", "--stdin", "--prefix="+filepath.ToSlash(dir)+"/")
	return err
}

// writer replaces files of the user's, each in one step.
type writer struct {
	in       *archive
	root     *os.Root
	exported string
	before   map[string]stamp.Trace // the files that are there
	mark     string                 // of the names of files that aren't finished
}

// observe takes note of a file that is to be replaced. It says why it can't be.
func (w *writer) observe(name string, now version) (why string) {
	if why := w.clearWay(name, false); why != "" {
		return why
	}
	t, err := stamp.TraceOf(filepath.Join(w.root.Name(), filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		if now != (version{}) {
			return whyNow
		}
		return ""
	case err != nil:
		return err.Error()
	case t.IsDir && now == (version{}): // deletions may empty it
		return ""
	case now == (version{}):
		return whyUnknown
	}
	w.before[name] = t
	return ""
}

// clearWay says why a file can't be reached without leaving the folder. With
// build it makes what is missing of the way.
func (w *writer) clearWay(name string, build bool) (why string) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		dir := filepath.FromSlash(name[:i])
		info, err := w.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) && build {
			err = w.root.Mkdir(dir, 0o777)
			if err == nil {
				continue
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && !build:
			return ""
		case err != nil:
			return plainError(err)
		case info != nil && info.Mode()&fs.ModeSymlink != 0:
			return whyLink
		case !info.IsDir() && build:
			return whyNow
		}
	}
	return ""
}

// order puts deletions first, the deepest before: new files may need their places.
func (w *writer) order(p *restoration) []string {
	names := slices.Sorted(maps.Keys(p.then))
	var gone, come []string
	for _, name := range names {
		if p.then[name] == (version{}) {
			gone = append(gone, name)
		} else {
			come = append(come, name)
		}
	}
	slices.Reverse(gone)
	return append(gone, come...)
}

// write makes a file what it shall be. It says why it can't.
func (w *writer) write(name string, then version) (why string) {
	local := filepath.FromSlash(name)
	if why := w.clearWay(name, then != version{}); why != "" {
		return why
	}
	old, was := w.before[name]
	t, err := stamp.TraceOf(filepath.Join(w.root.Name(), local))
	if was && (err != nil || t != old) || !was && err == nil && !t.IsDir {
		return whyNow
	}
	if then == (version{}) {
		if err := w.root.Remove(local); err != nil {
			return plainError(err)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // git has no empty folders
			if w.root.Remove(filepath.FromSlash(dir)) != nil {
				break
			}
		}
		return ""
	}
	temp := w.tempOf(name)
	err = w.copyTo(filepath.FromSlash(temp), name, then)
	if err == nil {
		err = w.root.Rename(filepath.FromSlash(temp), local)
	}
	if err != nil {
		w.root.Remove(filepath.FromSlash(temp))
		return plainError(err)
	}
	return ""
}

// copyTo makes a file, or a link, of what was exported. One that replaces
// another keeps who may read it.
func (w *writer) copyTo(temp, name string, then version) error {
	from := filepath.Join(w.exported, filepath.FromSlash(w.in.book.prefix()+name))
	if then.mode == symlink {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return w.root.Symlink(target, temp)
	}
	exported, err := regular.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer exported.Close()
	perm := fs.FileMode(0o666)
	if then.mode == "100755" {
		perm = 0o777
	}
	file, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, exported)
	if info, statErr := w.root.Lstat(filepath.FromSlash(name)); err == nil && statErr == nil && info.Mode().IsRegular() {
		old := info.Mode().Perm() &^ 0o111
		if then.mode == "100755" {
			old |= old & 0o444 >> 2
		}
		err = file.Chmod(old)
	}
	return errors.Join(err, file.Close())
}

// tempOf is the name beside a file under which its next content is written.
func (w *writer) tempOf(name string) string {
	return path.Join(path.Dir(name), ".ralph-undo-"+w.mark+".tmp")
}

// announce writes down which names may be left behind, should we be killed.
func (w *writer) announce(p *restoration) error {
	w.mark = rand.Text()
	dirs := map[string]bool{}
	for name := range p.then {
		dirs[w.tempOf(name)] = true
	}
	if err := w.in.writeOwn(worksName, []byte(strings.Join(slices.Sorted(maps.Keys(dirs)), "\x00"))); err != nil {
		return fmt.Errorf("writing files: %w", err)
	}
	return nil
}

// clearWorks removes what a git or an undo that was killed left behind.
func (s *archive) clearWorks() {
	entries, _ := os.ReadDir(s.home)
	for _, entry := range entries {
		if name := entry.Name(); name == indexName+".lock" || strings.HasPrefix(name, exportName) || strings.HasPrefix(name, mergeName) {
			os.RemoveAll(filepath.Join(s.home, name))
		}
	}
	own := filepath.Join(s.home, worksName)
	data, err := regular.Read(own, regular.Long)
	if err != nil {
		return
	}
	if root, err := regular.OpenRoot(s.book.Folder); err == nil {
		for _, temp := range git.Fields(data) {
			root.Remove(filepath.FromSlash(temp))
		}
		root.Close()
	}
	os.Remove(own)
}

// plainError is why something failed, without the path that is told anyway.
func plainError(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	if between, ok := errors.AsType[*os.LinkError](err); ok {
		return between.Err.Error()
	}
	return err.Error()
}
