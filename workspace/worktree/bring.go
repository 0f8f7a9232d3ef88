package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Bring copies and links files and folders from a repository into a tree of it that the commit doesn't
// have, by their paths there. For a linked folder, its entries are linked, so that git ignores them
// where it ignores the folder. Nothing leads out of the repository or the tree, and no existing
// file is overwritten. Notes say what was left out.
func Bring(repo, tree string, copies, links []string) (notes []string, err error) {
	if len(copies)+len(links) == 0 {
		return nil, nil
	}
	from, err := regular.OpenRoot(repo)
	if err != nil {
		return nil, fmt.Errorf("filling the worktree: %w", err)
	}
	defer from.Close()
	to, err := regular.OpenRoot(tree)
	if err != nil {
		return nil, fmt.Errorf("filling the worktree: %w", err)
	}
	defer to.Close()
	b := bringer{from, to, repo, &notes}
	for _, name := range copies {
		if err == nil {
			err = b.bring(name, "copied", b.copy)
		}
	}
	for _, name := range links {
		if err == nil {
			err = b.bring(name, "linked", b.link)
		}
	}
	return notes, err
}

type bringer struct {
	from, to *os.Root
	repo     string
	notes    *[]string
}

func (b bringer) note(text string) { *b.notes = append(*b.notes, text) }

// CheckName says what is wrong with a path that is to be brought; "" when nothing is.
func CheckName(name string) string {
	if local := filepath.FromSlash(name); !filepath.IsLocal(local) || filepath.Clean(local) == "." {
		return "is no path of a file or folder in the repository; leave it out"
	}
	return ""
}

// bring brings one entry. A failure is noted; one for want of space or the like is an error.
func (b bringer) bring(name, how string, do func(name string) error) error {
	leave := func(why string) error {
		b.note(fmt.Sprintf("%s is not %s into the worktree: %s", name, how, why))
		return nil
	}
	if why := CheckName(name); why != "" {
		return leave("it " + why)
	}
	name = path.Clean(filepath.ToSlash(name))
	if first, _, _ := strings.Cut(name, "/"); first == ".git" {
		return leave("it is git's own")
	}
	if _, err := b.from.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return leave("there is none in the repository")
	} else if err != nil {
		return leave("it leads out of the repository, or can't be read")
	}
	if _, err := b.to.Lstat(name); err == nil {
		return leave("it is there already")
	}
	if parent := path.Dir(name); parent != "." {
		if err := b.to.MkdirAll(parent, 0o777); err != nil {
			return leave("its folder can't be made: " + paths.Outside(b.to.Name(), parent, err).Error())
		}
	}
	if err := do(name); err != nil {
		return fmt.Errorf("filling the worktree: %s can't be %s: %w", name, how, err)
	}
	return nil
}

// copy copies a file, or a folder with all that is in it.
func (b bringer) copy(name string) error {
	info, err := b.from.Stat(name) // through a link that stays in the repository
	if err != nil {
		b.note(name + " is not copied into the worktree: it leads out of the repository, or can't be read")
		return nil
	}
	switch {
	case info.IsDir():
		return b.each(name, info, b.copyEntry)
	case info.Mode().IsRegular():
		return b.copyFile(name, info.Mode().Perm())
	}
	return nil // a socket, say
}

// maxBrought bounds the entries of one folder that is brought.
const maxBrought = 1 << 20

// each makes a folder in the tree, and brings what is in it.
func (b bringer) each(dir string, info fs.FileInfo, do func(name string, entry fs.DirEntry) error) error {
	if err := b.to.Mkdir(dir, info.Mode().Perm()|0o700); err != nil {
		return err
	}
	entries, all, err := regular.DirIn(b.from, dir, maxBrought)
	if err == nil && !all {
		err = fmt.Errorf("%s has more than %d entries; leave it out", dir, maxBrought)
	}
	for _, entry := range entries {
		if err == nil {
			err = do(path.Join(dir, entry.Name()), entry)
		}
	}
	return err
}

// copyEntry copies what is in a folder. A link stays one where it leads nowhere else.
func (b bringer) copyEntry(name string, entry fs.DirEntry) error {
	if entry.Type()&fs.ModeSymlink == 0 {
		return b.copy(name)
	}
	target, err := b.from.Readlink(name)
	if _, statErr := b.from.Stat(name); err != nil || statErr != nil || filepath.IsAbs(target) {
		b.note(name + " is not copied into the worktree: it leads out of the repository, or nowhere")
		return nil
	}
	return b.to.Symlink(target, name)
}

func (b bringer) copyFile(name string, mode fs.FileMode) error {
	in, err := regular.OpenIn(b.from, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := b.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// link links a file, or all that is in a folder.
func (b bringer) link(name string) error {
	info, err := b.from.Stat(name)
	if err != nil {
		return err
	}
	toRepo := func(name string, _ fs.DirEntry) error {
		if _, err := b.from.Stat(name); err != nil {
			b.note(name + " is not linked into the worktree: it leads out of the repository, or nowhere")
			return nil
		}
		return b.to.Symlink(filepath.Join(b.repo, filepath.FromSlash(name)), name)
	}
	if info.IsDir() {
		return b.each(name, info, toRepo)
	}
	return toRepo(name, nil)
}
