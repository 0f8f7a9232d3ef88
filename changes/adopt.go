package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Adopt makes of the snapshots that a bare repository has of one loop, fetched from another
// machine, such that Open can read, in a folder home. The loop is known by an id of the
// caller's, and folder, which has to be there, stands for its own.
func Adopt(ctx context.Context, home, folder, gitDir, loopID string) error {
	program, err := git.Find()
	if err != nil {
		return err
	}
	s := storeOf(kept{id: loopID, home: home, book: book{LoopID: loopID, Folder: folder, Top: folder, GitDir: gitDir, Own: true}})
	s.git = newGit(program, home, s.book)
	last, err := s.git.Text(ctx, nil, "for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname) %(tree)", "refs/ralph/*/last")
	if err != nil {
		return err
	}
	if !strings.Contains(last, " ") {
		return fmt.Errorf("%w: its worker has made none", ErrNone)
	}
	return errors.Join(s.writeBook(), s.writeOwn(tipName, []byte(last+"\n")))
}

// Open opens what Adopt has made.
func Open(home string) (*Store, error) {
	program, err := git.Find()
	if err != nil {
		return nil, err
	}
	return open(program, home)
}
