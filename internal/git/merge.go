package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Errors of MergeFile.
var (
	ErrConflict = errors.New("both sides changed the same place")
	ErrBinary   = errors.New("what is no text can't be merged")
)

// MergeFile merges three contents of the repository, mine, base and theirs, into one that it has from then on, by git
// merge-file, which is told how. dir is a folder of the caller's for as long, which isn't there yet.
//
// Errors: ErrConflict, with which merged has conflict markers; ErrBinary; and what git and the system say.
func (g Git) MergeFile(ctx context.Context, dir string, how []string, oids ...string) (merged string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("merging: %w", err)
	}
	defer os.RemoveAll(dir)
	args := append([]string{"merge-file", "-p", "-q"}, how...)
	for i, oid := range oids {
		text, err := g.Run(ctx, nil, "cat-file", "blob", oid)
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, []string{"mine", "base", "theirs"}[i])
		if err := regular.Write(name, text, 0o600); err != nil {
			return "", fmt.Errorf("merging: %w", err)
		}
		args = append(args, name)
	}
	text, mergeErr := g.Run(ctx, nil, args...)
	switch code := ExitCode(mergeErr); {
	case code > 0 && code < 128: // the number of conflicts
		mergeErr = ErrConflict
	case code >= 128:
		return "", ErrBinary
	case mergeErr != nil:
		return "", mergeErr
	}
	if merged, err = g.Text(ctx, text, "hash-object", "-w", "--stdin"); err != nil {
		return "", err
	}
	return merged, mergeErr
}
