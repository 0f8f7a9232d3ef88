package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// cacheRoot is where the folder has caches of its own, "" where there can be none. All in it
// is its agents', so nothing in it is mounted.
func (w *site) cacheRoot() string {
	root := paths.Own("walls")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		sum := sha256.Sum256([]byte(w.folder))
		root = filepath.Join(user, "ralph-lsp", "walls", hex.EncodeToString(sum[:8]))
	}
	if os.MkdirAll(root, 0o700) != nil {
		return ""
	}
	return real(root)
}

// bindOwn puts a folder of the loop's folder in the place of a cache. It is beside the root:
// in there, an agent could put a link in its place.
func (l *layout) bindOwn(p *mountList, root, path string) {
	if at := filepath.Join(root+"-home", slug(path)); os.MkdirAll(at, 0o700) == nil {
		p.add("--bind", at, path)
	}
}

// slug is a name for a path.
func slug(path string) string {
	return strings.TrimLeft(strings.ReplaceAll(filepath.ToSlash(path), "/", "-"), "-")
}

// openCaches gives the folder caches of its own.
func (w *mounts) openCaches(p *mountList, run Run) {
	root := w.cacheRoot()
	if root == "" {
		return
	}
	p.open(root)
	for _, name := range run.Caches {
		if os.MkdirAll(filepath.Join(root, name), 0o700) == nil {
			p.add("--symlink", filepath.Join(root, name), filepath.Join(run.TempDir, name))
		}
	}
	for _, n := range needs {
		if n.variable == "" || w.home == "" {
			continue
		}
		usual := w.expand(n.paths[0])
		if !slices.ContainsFunc(w.spec.Write, func(open string) bool { return within(usual, w.expand(open)) }) {
			p.add("--setenv", n.variable, filepath.Join(root, slug(strings.TrimLeft(n.paths[0], "~/."))))
		}
	}
	if proxy := w.moduleProxy(); proxy != "" {
		p.add("--setenv", "GOPROXY", proxy)
	}
}

// moduleProxy lets Go take the modules that are there already from where they are.
func (w *site) moduleProxy() string {
	modules := filepath.Join(os.Getenv("GOPATH"), "pkg", "mod")
	if os.Getenv("GOPATH") == "" {
		modules = w.expand("~/go/pkg/mod")
	}
	if known := os.Getenv("GOMODCACHE"); known != "" {
		modules = known
	}
	modules = filepath.Join(modules, "cache", "download")
	if w.home == "" || !exists(modules) {
		return ""
	}
	others := os.Getenv("GOPROXY")
	if others == "" {
		others = "https://proxy.golang.org,direct"
	}
	return "file://" + modules + "," + others
}

// maxPlain bounds a file of settings that is copied, in bytes.
const maxPlain = 1 << 20

// put shows content in a path's place: a file of the run's, which the run can't reach itself.
func (p *mountList) put(run Run, path string, content []byte, bind string) error {
	at := filepath.Join(run.TempDir, ".of"+slug(path))
	if known, err := regular.Read(at, regular.Long); err != nil || !bytes.Equal(known, content) {
		if err := regular.Write(at+"~", content, 0o600); err != nil {
			return err
		}
		if err := os.Rename(at+"~", at); err != nil { // another run of the scope may look right now
			return err
		}
	}
	p.add(bind, at, path)
	return nil
}
