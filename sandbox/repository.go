package sandbox

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// repository is where git keeps what belongs to a folder.
type repository struct {
	entry  string // .git of the work tree: a folder, or a file that names one
	own    string // what the work tree has for itself
	common string // what it shares with others; the same for most
}

// findRepository looks from dir upwards.
func findRepository(dir string) (r repository, ok bool) {
	for ; ; dir = filepath.Dir(dir) {
		r.entry = filepath.Join(dir, ".git")
		info, err := os.Stat(r.entry)
		switch {
		case err == nil && info.IsDir():
			r.own = real(r.entry)
			r.common = r.own
			return r, exists(filepath.Join(r.own, "HEAD"))
		case err == nil:
			return r, r.follow()
		case dir == filepath.Dir(dir):
			return r, false
		}
	}
}

// follow reads a .git that is a file. Only one that the other end knows counts: anybody can
// name the repository of somebody else there.
func (r *repository) follow() bool {
	data, err := os.ReadFile(r.entry)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	r.own = at(filepath.Dir(r.entry), target)
	r.common = r.own
	if data, err := os.ReadFile(filepath.Join(r.own, "commondir")); err == nil {
		r.common = at(r.own, strings.TrimSpace(string(data)))
		back, _ := os.ReadFile(filepath.Join(r.own, "gitdir"))
		return within(r.own, filepath.Join(r.common, "worktrees")) && at(r.own, strings.TrimSpace(string(back))) == real(r.entry)
	}
	tree, err := gitConfig(filepath.Dir(r.entry), "--file", filepath.Join(r.own, "config"), "core.worktree") // a submodule's
	return err == nil && at(r.own, tree) == real(filepath.Dir(r.entry))
}

func at(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return real(path)
}

// openRepository lets git work, and keeps from it what it runs for whoever comes later.
func (w *Walls) openRepository(p *plan) {
	r, ok := findRepository(w.folder)
	if !ok {
		return
	}
	if within(r.entry, w.folder) && r.own != r.entry {
		p.fix(w.folder, r.entry) // a file, or a link
	}
	if within(w.folder, r.common) { // nobody works in there
		return
	}
	p.open(r.common)
	if !within(r.own, r.common) {
		p.open(r.own)
	}
	w.fixGitDir(p, r.common)
	if r.own != r.common {
		w.fixGitDir(p, r.own)
		for _, name := range []string{"HEAD", "index"} { // of the tree that the user works in
			if path := filepath.Join(r.common, name); exists(path) {
				p.fix(r.common, path)
			}
		}
	}
	records := filepath.Join(r.common, "ralph") // of worktrees that are to be taken away
	if w.make(records); exists(records) {
		p.fix(r.common, records)
	}
	trees := filepath.Join(r.common, "worktrees")
	if entries, err := os.ReadDir(trees); err == nil {
		p.open(trees)
		for _, tree := range entries {
			path := filepath.Join(trees, tree.Name())
			if path != r.own {
				p.fix(trees, path)
				continue
			}
			p.open(path)
			for _, name := range []string{"commondir", "gitdir", "ralph.json"} { // the last says which tree lands, and where
				if entry := filepath.Join(path, name); exists(entry) {
					p.fix(path, entry)
				}
			}
		}
	}
	modules := filepath.Join(r.common, "modules")
	filepath.WalkDir(modules, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case entry.Name() == "objects" || entry.Name() == "refs" || entry.Name() == "logs" || entry.Name() == "hooks":
			return filepath.SkipDir
		}
		p.open(path)
		if exists(filepath.Join(path, "HEAD")) {
			w.fixGitDir(p, path)
		}
		return nil
	})
	if path, err := gitConfig(w.folder, "core.hooksPath"); err == nil {
		if path = at(filepath.Dir(r.entry), path); within(path, w.folder) && path != w.folder && exists(path) {
			p.fix(w.folder, path)
		}
	}
}

// fixGitDir keeps hooks and configuration of a git folder as they are.
func (w *Walls) fixGitDir(p *plan, dir string) {
	w.make(filepath.Join(dir, "hooks"))
	for _, name := range []string{"hooks", "config", "config.worktree"} {
		if path := filepath.Join(dir, name); exists(path) {
			p.fix(dir, path)
		}
	}
}

// gitConfig asks git for a value.
func gitConfig(dir string, question ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "config", "--type=path"}, question...)...)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
