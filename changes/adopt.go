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
	s := storeOf(kept{id: loopID, home: home, book: book{LoopID: loopID, Folder: folder, Top: folder, GitDir: gitDir, Own: true}})
	s.git = newGit(program, home, s.book)
	last, err := s.git.Text(ctx, nil, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/ralph/*/"+refName)
	text := []byte(nil)
	if err == nil && last != "" {
		t := tip{list: last}
		t.tree, err = s.git.Text(ctx, nil, "rev-parse", last+":last")
		text = t.text()
	} else if err == nil { // of an older version
		text, err = s.git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname) %(tree)", "refs/ralph/*/last")
	}
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return fmt.Errorf("%w: its worker has made none", ErrNone)
	}
	return errors.Join(s.writeBook(), s.writeOwn(tipName, text))
}

// Open opens what Adopt has made.
func Open(home string) (*Store, error) {
	program, err := git.Find()
	if err != nil {
		return nil, err
	}
	return open(program, home)
}
