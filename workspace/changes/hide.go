package changes

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// hide takes what agents may not read out of the index that snapshots begin with, and notes what
// snapshots of other loops have of it: git shows it to whoever may read the repository.
func (s *archive) hide(ctx context.Context) (notes []string, err error) {
	if len(s.book.Hidden) == 0 {
		return nil, nil
	}
	var within []string
	for _, name := range s.book.Hidden {
		within = append(within, path.Join(s.book.prefix(), name))
	}
	known, err := s.git.List(ctx, append([]string{"ls-files", "-z", "--"}, within...)...)
	if err == nil {
		err = s.git.Unstage(ctx, known)
	}
	if err != nil || s.book.Own {
		return nil, err
	}
	for i, name := range within {
		where, err := s.shownIn(ctx, name)
		if err != nil {
			return notes, err
		}
		if where != "" {
			notes = append(notes, fmt.Sprintf("%s (hidden; snapshots of a loop before have it, so git shows it: %s)", s.book.Hidden[i], where))
		}
	}
	return notes, nil
}

// shownIn names the snapshot of a loop before that has a file; "" for none.
func (s *archive) shownIn(ctx context.Context, name string) (string, error) {
	refs, err := s.git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/ralph/*/"+refName)
	if err != nil {
		return "", err
	}
	var asked []string
	for ref := range strings.Lines(string(refs)) {
		ref = strings.TrimSpace(ref)
		listing, err := s.git.Run(ctx, nil, "ls-tree", "-z", ref)
		if err != nil {
			return "", err
		}
		lists := []string{""}
		for _, o := range readList(string(listing)).older {
			lists = append(lists, o.name+"/")
		}
		for _, list := range lists {
			names, err := s.git.List(ctx, "ls-tree", "-z", "--name-only", ref+":"+list)
			if err != nil {
				return "", err
			}
			for _, of := range names {
				asked = append(asked, ref+":"+list+of)
			}
		}
	}
	if len(asked) > 0 {
		found, err := s.git.Text(ctx, []byte(strings.Join(asked, "/"+name+"\n")+"/"+name+"\n"), "cat-file", "--batch-check")
		if err != nil {
			return "", err
		}
		for i, line := range strings.Split(found, "\n") {
			if i < len(asked) && !strings.HasSuffix(line, " missing") {
				return asked[i], nil
			}
		}
	}
	commit, err := s.git.Text(ctx, nil, "log", "-1", "--format=%H", "--no-show-signature", "--glob=refs/ralph/*", "--", name)
	if err != nil || commit == "" {
		return "", err
	}
	return s.nameOf(ctx, commit), nil
}

// nameOf is a ref that leads to a commit, or the commit.
func (s *archive) nameOf(ctx context.Context, commit string) string {
	refs, err := s.git.Run(ctx, nil, "for-each-ref", "--count=1", "--contains="+commit, "--format=%(refname)", "refs/ralph/")
	if name := strings.TrimSpace(string(refs)); err == nil && name != "" {
		return name
	}
	return commit
}
