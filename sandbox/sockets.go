package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/sandbox/inside"
)

// sockets returns the sockets of the file system that listen, according to the kernel.
func sockets(said, folder string) (paths []string) {
	for line := range strings.Lines(said) {
		fields := strings.Fields(line)
		if len(fields) < 8 || strings.HasPrefix(fields[7], "@") { // abstract ones belong to a network, and go with it
			continue
		}
		path := strings.Join(fields[7:], " ")
		if !filepath.IsAbs(path) { // as it was said, wherever that was
			path = filepath.Join(folder, path)
		}
		if path = real(path); isSocket(path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// OpenSockets says that walls with a network leave abstract unix sockets open here, "" where they don't.
func OpenSockets(s Spec) string {
	if !s.IsOn() || !s.Network || s.EngineOf() != Bubblewrap || canScope() {
		return ""
	}
	return `this kernel can't close abstract unix sockets (Linux 6.12 and newer can, with Landlock), so with the network on ` +
		`the agent reaches what listens there, as X11 does: network = "off" below [sandbox] closes them`
}

// canScope is another one in tests.
var canScope = inside.CanScopeSockets

// hideSockets empties those that could be reached without a network.
func (w *mounts) hideSockets(p *mountList, empty string) {
	said, _ := regular.Head("/proc/net/unix", regular.Long)
	for _, path := range sockets(string(said), w.folder) {
		isIn := func(dir string) bool { return within(path, real(dir)) }
		if slices.ContainsFunc(p.hidden, isIn) || w.there.isClosed(path) || !w.mayWrite(path) && slices.ContainsFunc(tempDirs, isIn) {
			continue
		}
		if around := outermost(slices.Concat(w.spec.Write, []string{w.folder}), path); around != "" {
			p.pin(around, path)
		}
		p.hide(path, empty)
	}
}
