package changes

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// hide takes what agents may not read out of the index that snapshots begin with, and notes what
// snapshots of other loops have of it: git shows it to whoever may read the repository.
func (s *shots) hide(ctx context.Context) (notes []string, err error) {
	if len(s.book.Hidden) == 0 {
		return nil, nil
	}
	var within []string
	for _, name := range s.book.Hidden {
		within = append(within, path.Join(s.book.prefix(), name))
	}
	known, err := s.git.Run(ctx, nil, append([]string{"ls-files", "-z", "--"}, within...)...)
	if err == nil && len(known) > 0 {
		_, err = s.git.Run(ctx, known, "update-index", "-z", "--force-remove", "--stdin")
	}
	if err != nil || s.book.Own {
		return nil, err
	}
	for i, name := range within {
		commit, err := s.git.Text(ctx, nil, "log", "-1", "--format=%H", "--no-show-signature", "--glob=refs/ralph/*", "--", name)
		if err != nil {
			return notes, err
		}
		if commit != "" {
			notes = append(notes, fmt.Sprintf("%s (hidden; snapshots of a loop before have it, so git shows it: %s)", s.book.Hidden[i], s.nameOf(ctx, commit)))
		}
	}
	return notes, nil
}

// nameOf is a ref that leads to a commit, or the commit.
func (s *kept) nameOf(ctx context.Context, commit string) string {
	refs, err := s.git.Run(ctx, nil, "for-each-ref", "--count=1", "--contains="+commit, "--format=%(refname)", "refs/ralph/")
	if name := strings.TrimSpace(string(refs)); err == nil && name != "" {
		return name
	}
	return commit
}
