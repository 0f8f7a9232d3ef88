package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// LookTwice asks two gits at once: for the files that the index knows and that look changed, but for submodules, and for
// those that it doesn't know and git doesn't ignore; of a repository within, "path/". within are more arguments. A file
// that is unmerged comes twice.
func (g Git) LookTwice(ctx context.Context, within []string) (changed, unknown []string, err error) {
	var unknownErr error
	var asking sync.WaitGroup
	asking.Go(func() {
		unknown, unknownErr = g.List(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, within...)...)
	})
	f, err := g.List(ctx, append([]string{"diff-files", "-z", "--raw", "--no-ext-diff", "--ignore-submodules=all"}, within...)...)
	asking.Wait()
	for ; len(f) > 1; f = f[2:] { // ":100644 100644 oid oid M", "path"
		if !strings.HasPrefix(f[0], ":160000") {
			changed = append(changed, f[1])
		}
	}
	return changed, unknown, cmp.Or(err, unknownErr)
}

// LookOnce asks one git for both. It reads what was only touched, each time, so that isn't told as changed.
func (g Git) LookOnce(ctx context.Context, within []string) (changed, unknown []string, err error) {
	args := []string{"ls-files", "-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard"}
	lines, err := g.List(ctx, append(args, within...)...)
	var folders []string         // in whose place a submodule may be
	for _, line := range lines { // "? path", "R path" of one that is gone, "C path" of any that changed
		how, name, _ := strings.Cut(line, " ")
		if how == "?" {
			unknown = append(unknown, name)
			continue
		}
		changed = append(changed, name)
		if info, err := os.Lstat(filepath.Join(g.Dir, filepath.FromSlash(name))); err == nil && info.IsDir() {
			folders = append(folders, name)
		}
	}
	if len(folders) == 0 || err != nil {
		return changed, unknown, err
	}
	modules, err := g.Submodules(ctx, append([]string{"--"}, folders...)...)
	return slices.DeleteFunc(changed, func(name string) bool { return slices.Contains(modules, name) }), unknown, err
}
