package changes

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Adopt prepares the snapshots of one loop in a bare repository, fetched from another machine, so
// that Open can read them from the folder home. The caller gives the loop's id. folder stands for
// the loop's own, and has to exist.
func Adopt(ctx context.Context, home, folder, gitDir, loopID string) error {
	program, err := git.Find()
	if err != nil {
		return err
	}
	s := &archive{id: loopID, home: home, book: book{LoopID: loopID, Folder: folder, Top: folder, GitDir: gitDir, Own: true}}
	s.git = newGit(program, home, s.book)
	last, err := s.git.Text(ctx, nil, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/ralph/*/"+refName)
	if err == nil && last == "" {
		err = fmt.Errorf("%w: its worker has made none", ErrNone)
	}
	if err != nil {
		return err
	}
	tree, err := s.git.Text(ctx, nil, "rev-parse", last+":last")
	if err != nil {
		return err
	}
	listing, err := s.git.Run(ctx, nil, "ls-tree", "-z", last)
	if err != nil {
		return err
	}
	for _, o := range readList(string(listing)).older {
		text, err := s.git.Run(ctx, nil, "ls-tree", "-z", o.tree)
		if err == nil {
			err = s.writeOwn(olderName(o.place), text)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(s.writeBook(), s.writeOwn(tipName, tip{list: last, tree: tree, listing: string(listing)}.text()))
}

// Open opens what Adopt has made.
func Open(home string) (*Store, error) {
	program, err := git.Find()
	if err != nil {
		return nil, err
	}
	return open(program, home)
}
