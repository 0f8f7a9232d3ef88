package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// record says what of a tree may be there although it isn't whole. It is written before
// there is any of it, and removed when the tree is whole, or nothing of it is left.
type record struct {
	ID    string `json:"id"` // names it, and git's folder for the tree
	Tree         // of which Made says that the branch goes with it
	Place bool   `json:"place"` // so does the folder that it is in

	Common string   `json:"-"`
	lock   *os.File // held by who makes it, and by its gits
}

func recordsOf(common string) string { return filepath.Join(common, "ralph") }

func (rec *record) file() string      { return filepath.Join(recordsOf(rec.Common), rec.ID+".json") }
func (rec *record) indexFile() string { return filepath.Join(recordsOf(rec.Common), rec.ID+".index") }
func (rec *record) admin() string     { return filepath.Join(rec.Common, "worktrees", rec.ID) }

// makeRecords makes the folder of the records. One that leads elsewhere isn't it.
func makeRecords(common string) error {
	dir := recordsOf(common)
	err := os.MkdirAll(dir, 0o777)
	if info, statErr := os.Lstat(dir); err == nil && statErr == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder; remove it", dir)
	}
	return err
}

// begin chooses a tree and takes it down. Two that begin at once choose differently.
func (r repo) begin(ctx context.Context, o Options) (*record, error) {
	dir := recordsOf(r.common)
	if err := makeRecords(r.common); err != nil {
		return nil, &Error{"the repository can't be written to: " + err.Error(), "leave --worktree out, or start where you may write"}
	}
	release, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.clean(); err != nil {
		return nil, err
	}
	rec, err := r.choose(ctx, o)
	if err != nil {
		return nil, err
	}
	rec.Place = !exists(filepath.Dir(rec.Path))
	if err := rec.create(); err != nil {
		return nil, err
	}
	return &rec, nil
}

// create begins the record. Its maker holds a lock on it.
func (rec *record) create() (err error) {
	if rec.lock, err = os.OpenFile(rec.file(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return fmt.Errorf("taking down a worktree: %w", err)
	}
	if _, err = filelock.Try(rec.lock, true); err == nil {
		err = rec.write()
	}
	if err != nil {
		err = errors.Join(err, rec.remove())
	}
	return err
}

// write stores the record. A record that a kill cut off can't be read, and no tree was begun by then; later writes
// are as long as the first.
func (rec *record) write() error {
	data, err := json.Marshal(rec)
	if err == nil {
		_, err = rec.lock.WriteAt(data, 0)
	}
	if err != nil {
		return fmt.Errorf("taking down a worktree: %w", err)
	}
	return nil
}

// remove ends it: there is nothing to be taken away any more.
func (rec *record) remove() error {
	if rec.lock == nil {
		return nil
	}
	os.Remove(rec.indexFile())
	os.Remove(rec.indexFile() + ".lock")
	err := rec.lock.Truncate(0) // an empty record removes nothing, should it stay
	rec.lock.Close()
	rec.lock = nil
	err = errors.Join(err, os.Remove(rec.file()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ending the record of a worktree: %w", err)
	}
	return nil
}

// isSound says whether a record is one that we wrote. Any program that can write into the repository can write one;
// it affects only a tree.
func (rec *record) isSound(id string) bool {
	return rec.ID == id && id != "." && id != ".." && filepath.Base(rec.Path) == id && filepath.IsAbs(rec.Path) &&
		filepath.IsLocal(rec.Branch) && filepath.Clean(rec.Branch) == filepath.FromSlash(rec.Branch) && isObject(rec.Base)
}

// isObject says whether a text is a name of git's for a commit, and so no flag; there
// may be none.
func isObject(name string) bool { return strings.Trim(name, "0123456789abcdef") == "" }

// clean takes away what makers have left that were killed.
func (r repo) clean() error {
	entries, err := os.ReadDir(recordsOf(r.common))
	if err != nil {
		return fmt.Errorf("looking for unfinished worktrees: %w", err)
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || !entry.Type().IsRegular() { // a link leads to what isn't ours
			continue
		}
		rec := record{Common: r.common, ID: id}
		if rec.lock, err = regular.Open(rec.file(), os.O_RDWR|regular.NoFollow, 0); err != nil {
			continue // it is gone by now
		}
		if free, err := filelock.Try(rec.lock, true); !free || err != nil {
			rec.lock.Close()
			continue // somebody is at it
		}
		data, err := regular.All(rec.lock, regular.Long)
		if err == nil && json.Unmarshal(data, &rec) == nil && rec.isSound(id) {
			err = rec.undo()
		} else {
			err = rec.remove()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undo removes the rest of the tree, and then the record. Only a folder that git's own folder for this tree names is
// removed, and only a branch that is where it began.
func (rec *record) undo() error {
	if at := linkOf(rec.Path); at == paths.Real(rec.admin()) || rec.isBegun() {
		if err := empty(rec.Path); err != nil {
			return fmt.Errorf("removing an unfinished worktree: %w", err)
		}
	}
	removeEmpty(rec.Path)
	if rec.Place {
		removeEmpty(filepath.Dir(rec.Path))
	}
	within, err := regular.OpenRoot(rec.Common) // whose folders may be links that lead out
	if err != nil {
		return fmt.Errorf("removing an unfinished worktree: %w", err)
	}
	defer within.Close()
	if !exists(rec.Path) || linkOf(rec.Path) == "" {
		if back := backOf(rec.admin()); back == "" || filepath.Dir(back) == rec.Path || paths.Real(filepath.Dir(back)) == paths.Real(rec.Path) {
			name := filepath.Join("worktrees", rec.ID)
			if err := within.RemoveAll(name); err != nil {
				return fmt.Errorf("removing an unfinished worktree: %w", paths.Outside(rec.Common, name, err))
			}
			removeEmpty(filepath.Dir(rec.admin())) // git has it only with something in it
		}
	}
	if rec.Made {
		if err := rec.dropBranch(within); err != nil {
			return err
		}
	}
	return rec.remove()
}

// isBegun says whether git was killed when it had made the tree's .git and hadn't written it: git's own
// folder for the tree names it already.
func (rec *record) isBegun() bool {
	dot := filepath.Join(rec.Path, ".git")
	info, err := os.Lstat(dot)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 && paths.Real(backOf(rec.admin())) == paths.Real(dot)
}

// dropBranch removes the branch unless it has moved.
func (rec *record) dropBranch(within *os.Root) error {
	program, err := git.Find()
	if err != nil {
		return err
	}
	g := git.Git{Program: program, Dir: rec.Common, Env: []string{"GIT_DIR=" + rec.Common}, Lock: rec.lock}
	ref := "refs/heads/" + rec.Branch
	clearLock(within, filepath.FromSlash(ref)+".lock")
	_, err = g.Run(context.Background(), nil, "update-ref", "-d", ref, rec.Base)
	if tip, e := g.Text(context.Background(), nil, "rev-parse", "--verify", "--quiet", ref); err != nil &&
		(git.ExitCode(e) == 1 || e == nil && tip != rec.Base) {
		err = nil // it never was, or somebody used it
	}
	if err != nil {
		return fmt.Errorf("removing the branch of an unfinished worktree: %w", err)
	}
	return nil
}

// briefly is how long the user's own git may hold a lock of such a branch.
const briefly = time.Second

// clearLock removes the lock of a branch of ours that a git which was killed has left.
func clearLock(within *os.Root, path string) {
	for end := time.Now().Add(briefly); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if info, err := within.Lstat(path); err != nil || time.Since(info.ModTime()) > briefly {
			break
		}
	}
	_ = within.Remove(path) // there may be none
}

// removeEmpty removes a folder with nothing in it, and no file.
func removeEmpty(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		os.Remove(path)
	}
}

// empty removes all of a tree but the file with its owner, and that last. It waits for programs that still write
// there and are about to end.
func empty(path string) error {
	for tries := 0; ; tries++ {
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
		if len(entries) == 0 {
			return os.Remove(filepath.Join(path, ".git"))
		}
		for _, entry := range entries {
			err = errors.Join(err, paths.RemoveAll(filepath.Join(path, entry.Name())))
		}
		if err != nil && tries == 20 {
			return err
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// lockFile waits for the lock of a file of ours.
func lockFile(ctx context.Context, path string) (release func(), err error) {
	file, err := regular.Open(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, &Error{"the repository can't be written to: " + err.Error(), "leave --worktree out, or start where you may write"}
	}
	if err := filelock.Wait(ctx, file); err != nil {
		file.Close()
		return nil, fmt.Errorf("waiting for another start of a worktree: %w", err)
	}
	return func() { filelock.Unlock(file); file.Close() }, nil
}
