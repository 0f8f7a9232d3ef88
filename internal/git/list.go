package git

import (
	"context"
	"strings"
)

// List is what git prints with -z.
func (g Git) List(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.Run(ctx, nil, args...)
	return Fields(out), err
}

// Submodules are those that the index has, by their paths; more is told to git ls-files.
func (g Git) Submodules(ctx context.Context, more ...string) (paths []string, err error) {
	lines, err := g.List(ctx, append([]string{"ls-files", "-z", "--stage"}, more...)...)
	for _, line := range lines { // "160000 oid 0\tpath"
		if _, path, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(line, "160000 ") {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// Fields splits what git prints with -z.
func Fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
