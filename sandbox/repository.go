package sandbox

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// repository is where git keeps what belongs to a folder.
type repository struct {
	entry  string // .git of the work tree: a folder, or a file that names one
	own    string // the work tree's own part
	common string // the part that it shares with others; the same for most
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
	data, err := regular.Read(r.entry, regular.Short)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	r.own = at(filepath.Dir(r.entry), target)
	r.common = r.own
	if data, err := regular.Read(filepath.Join(r.own, "commondir"), regular.Short); err == nil {
		r.common = at(r.own, strings.TrimSpace(string(data)))
		back, _ := regular.Read(filepath.Join(r.own, "gitdir"), regular.Short)
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

// repository is the folder's, unless it is one of the home as a whole, which is hidden.
func (w *site) repository() (repository, bool) {
	r, ok := findRepository(w.folder)
	return r, ok && (w.home == "" || !within(w.home, filepath.Dir(r.entry)))
}

// openRepository lets git work, and keeps from it what it runs for whoever comes later.
func (w *mounts) openRepository(p *mountList) {
	r, ok := w.repository()
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
	if w.made.dir(records); exists(records) {
		p.fix(r.common, records)
	}
	trees := filepath.Join(r.common, "worktrees")
	if entries, err := os.ReadDir(trees); err == nil && p.direct(trees) {
		p.open(trees)
		for _, tree := range entries {
			path := filepath.Join(trees, tree.Name())
			if path != r.own {
				p.fix(trees, path)
				continue
			}
			if !p.direct(path) {
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
	p.direct(modules)
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
	for _, path := range r.leadsTo(w.folder) {
		if exists(path) {
			p.fix(w.folder, path)
		} else {
			p.fixed = append(p.fixed, path) // it is told if it comes
		}
	}
	for _, entry := range r.submodules(w.folder) {
		if info, err := os.Lstat(entry); err == nil && info.IsDir() {
			p.pin(w.folder, entry)
			p.open(entry)
			w.fixGitDir(p, entry)
		} else if err == nil {
			p.fix(w.folder, entry)
		}
	}
}

// leadsTo lists what the configuration of a repository leads to in a folder: hooks, and more configuration.
func (r repository) leadsTo(folder string) (paths []string) {
	add := func(path string) {
		if within(path, folder) && path != folder {
			paths = append(paths, path)
		}
	}
	if path, err := gitConfig(folder, "core.hooksPath"); err == nil {
		add(at(filepath.Dir(r.entry), path))
	}
	if path := os.Getenv("GIT_CONFIG_GLOBAL"); filepath.IsAbs(path) {
		add(real(path))
	}
	for _, dir := range []string{r.common, r.own} {
		for _, name := range []string{"config", "config.worktree"} {
			path := filepath.Join(dir, name)
			if data, err := regular.Read(path, regular.Long); err != nil || !bytes.Contains(bytes.ToLower(data), []byte("include")) {
				continue
			}
			out, _ := gitRuns(folder, nil, "--file", path, "--includes", "--show-origin", "--type=path", "-z", "--get-regexp",
				`^include(if\..*)?\.path$`)
			for fields := git.Fields(out); len(fields) > 1; fields = fields[2:] { // "file:PATH", "include.path\nPATH"
				_, target, _ := strings.Cut(fields[1], "\n")
				add(at(filepath.Dir(strings.TrimPrefix(fields[0], "file:")), target))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// submodules lists what git takes for their repositories in a folder, as its index has them: .git of each.
func (r repository) submodules(folder string) (entries []string) {
	// their mode
	if data, err := regular.Read(filepath.Join(r.own, "index"), git.MaxIndex); err != nil || !bytes.Contains(data, []byte{0, 0, 0xe0, 0}) {
		return nil
	}
	program, err := git.Find()
	if err != nil {
		return nil
	}
	top := filepath.Dir(r.entry)
	links, _ := git.Git{Program: program, Dir: top}.Submodules(context.Background())
	for _, name := range links {
		if entry := filepath.Join(top, filepath.FromSlash(name), ".git"); within(entry, folder) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// unsettled are files that git would obey and that aren't there.
func (r repository) unsettled() (paths []string) {
	for _, dir := range []string{r.common, r.own} {
		if path := filepath.Join(dir, "config.worktree"); dir != "" && !exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// fixGitDir keeps hooks and configuration of a git folder as they are.
func (w *mounts) fixGitDir(p *mountList, dir string) {
	w.made.dir(filepath.Join(dir, "hooks"))
	w.made.configuration(dir)
	for _, name := range []string{"hooks", "config", "config.worktree"} {
		if path := filepath.Join(dir, name); exists(path) {
			p.fix(dir, path)
		}
	}
}

// configuration makes one that git would obey if it were there, so that nobody else can.
func (m *made) configuration(dir string) {
	if data, err := regular.Read(filepath.Join(dir, "config"), regular.Long); err != nil ||
		!bytes.Contains(bytes.ToLower(data), []byte("worktreeconfig")) {
		// of a worktree
		if data, err = regular.Read(filepath.Join(dir, "../../config"), regular.Long); err != nil ||
			!bytes.Contains(bytes.ToLower(data), []byte("worktreeconfig")) {
			return
		}
	}
	path := filepath.Join(dir, "config.worktree")
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
		file.Close()
		m.add(path)
	}
}

// gitConfig asks git for a value.
func gitConfig(dir string, question ...string) (string, error) {
	out, err := gitRuns(dir, nil, append([]string{"--type=path"}, question...)...)
	return strings.TrimSpace(string(out)), err
}

// gitRuns runs git config, which runs nothing else.
func gitRuns(dir string, stdin []byte, args ...string) ([]byte, error) {
	program, err := git.Find()
	if err != nil {
		return nil, err
	}
	return git.Git{Program: program, Dir: dir, Patience: 5 * time.Second}.Config(context.Background(), stdin, args...)
}
