package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Git opens files of a repository and its work tree without a look at what they are: it waits without end at a
// pipe, and reads a device or a huge file until the memory is full. An agent can put either in their place.

// opened are the files of a repository that git opens whatever it does, and how many bytes they may have.
var opened = []struct {
	name string
	most int64
}{
	{"HEAD", regular.Short}, {"commondir", regular.Short}, {"config", regular.Long}, {"config.worktree", regular.Long},
	{"index", MaxIndex}, {"packed-refs", MaxIndex}, {"reftable/tables.list", regular.Long}, {"shallow", regular.Long},
	{"info/exclude", regular.Long}, {"info/attributes", regular.Long}, {"info/sparse-checkout", regular.Long}, {"info/grafts", regular.Long},
	{"objects/info/alternates", regular.Long},
}

// rules are the files that git reads in each folder of a work tree.
var rules = []string{".gitattributes", ".gitignore", ".gitmodules", ".mailmap"}

const (
	firstLook = 2 * time.Second // how long a git may take before somebody looks what it waits for
	maxLooked = 200_000         // files that are looked at for that
)

// slowError says that a git took too long.
type slowError struct{ patience time.Duration }

func (e slowError) Error() string {
	return fmt.Sprintf("it took longer than %v, so it was ended; look what git status says in the folder", e.patience)
}

func (e slowError) Unwrap() error { return context.DeadlineExceeded }

// IsStuck says whether an error of Run's is about a git that would not have ended by itself. Another try would fail
// in the same way, as slowly.
func IsStuck(err error) bool {
	return errors.As(err, &slowError{}) || errors.As(err, &regular.KindError{}) || errors.As(err, &regular.SizeError{}) ||
		errors.As(err, &regular.SlowError{})
}

// place is the repository that git finds, and the top of its work tree; "" for none. The error names a file in which
// git would look for one, and that it can't read.
func (g Git) place() (repo, top string, err error) {
	for _, kv := range g.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR":
			repo = value
		case "GIT_WORK_TREE":
			top = value
		}
	}
	dir, absErr := filepath.Abs(g.Dir)
	for ; repo == "" && absErr == nil; dir = filepath.Dir(dir) {
		entry := filepath.Join(dir, ".git")
		if exists(filepath.Join(entry, "HEAD")) {
			return entry, dir, nil
		}
		if linked := linkedFrom(entry); linked != "" {
			return linked, dir, nil
		}
		if err := regular.Check(filepath.Join(dir, "HEAD"), regular.Short); err != nil && !isFolder(err) { // this may be a repository itself
			return "", "", err
		}
		if exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) {
			return dir, "", nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return repo, top, nil
}

func exists(path string) bool {
	_, err := regular.Stat(path)
	return err == nil
}

func isFolder(err error) bool {
	kind, ok := errors.AsType[regular.KindError](err)
	return ok && kind.Mode.IsDir()
}

// withoutIndex are commands that read no index.
var withoutIndex = []string{
	"bundle", "cat-file", "commit-tree", "config", "diff-tree", "fetch", "for-each-ref", "hash-object", "init", "log", "ls-tree", "merge-base",
	"merge-tree", "mktree", "rev-list", "rev-parse", "show-ref", "symbolic-ref", "update-ref", "version",
}

// check names a file of the repository that a command of git can't read: it isn't even started. "" is any command.
func (g Git) check(command string) error {
	repo, _, err := g.place()
	if err != nil || repo == "" {
		return err
	}
	common := CommonOf(repo)
	noIndex := slices.Contains(withoutIndex, command) ||
		slices.ContainsFunc(g.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_INDEX_FILE=") })
	for _, dir := range slices.Compact([]string{repo, common}) {
		for _, file := range opened {
			if noIndex && file.name == "index" { // it has one of its own, or reads none
				continue
			}
			if err := regular.Check(filepath.Join(dir, filepath.FromSlash(file.name)), file.most); err != nil {
				return err
			}
		}
	}
	head, _ := regular.Read(filepath.Join(repo, "HEAD"), regular.Short)
	branch := filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(string(head), "ref: ")))
	if !filepath.IsLocal(branch) {
		return nil
	}
	if err := regular.Check(filepath.Join(common, branch), regular.Short); !isFolder(err) { // main/ has others below it
		return err
	}
	return nil
}

// look ends a git that waits for what isn't a regular file, and says which it is; nil once ctx is done.
func (g Git) look(ctx context.Context, end func(error)) error {
	for wait := firstLook; ; wait *= 2 {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if err := g.unreadable(ctx, true); err != nil {
			end(err)
			return err
		}
	}
}

// unreadable finds a file that git reads and that isn't a regular one, or is too large. awaited leaves out what holds
// up nobody right now.
func (g Git) unreadable(ctx context.Context, awaited bool) (found error) {
	if err := g.check(""); err != nil {
		return err
	}
	repo, top, err := g.place()
	if err != nil || repo == "" {
		return err
	}
	left := maxLooked
	check := func(path string) {
		if err := regular.Check(path, regular.Long); err != nil && (!awaited || holdsUp(err, path)) {
			found = err
		}
	}
	look := func(in string, reads func(name string) bool) {
		_ = filepath.WalkDir(in, func(path string, entry fs.DirEntry, err error) error {
			switch left--; {
			case found != nil || left < 0 || ctx.Err() != nil && awaited:
				return fs.SkipAll
			case err != nil: // gone meanwhile, or nobody may read it
			case entry.IsDir() && in == top && entry.Name() == ".git":
				check(filepath.Join(path, "HEAD")) // by which git knows a repository within
				return fs.SkipDir
			case !entry.IsDir() && reads(entry.Name()):
				check(path)
			}
			return nil
		})
	}
	for _, name := range []string{"refs", "logs"} {
		look(filepath.Join(CommonOf(repo), name), func(string) bool { return true })
	}
	if top != "" {
		look(top, func(name string) bool { return slices.Contains(rules, name) })
	}
	return found
}

// holdsUp says whether a git that has taken long is held up by what is in the place of a file: a pipe at which somebody
// waits, or a device, which may have no end.
func holdsUp(err error, path string) bool {
	kind, ok := errors.AsType[regular.KindError](err)
	return ok && (kind.Mode&fs.ModeDevice != 0 || kind.Mode&fs.ModeNamedPipe != 0 && isAwaited(path))
}
