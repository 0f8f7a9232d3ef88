package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Fate is what became of a tree.
type Fate string

const (
	FateMade      Fate = "made" // and nothing else is known of it
	FateLanded    Fate = "landed"
	FateDiscarded Fate = "discarded"
)

// Past is a tree whose loops may have left only their history.
type Past struct {
	Fate   Fate      `json:"fate"`
	At     time.Time `json:"at"`
	Folder string    `json:"folder"` // the loop's
	From   string    `json:"from"`   // the user's that it stood for
	Branch string    `json:"branch"`
	Into   string    `json:"into,omitempty"`   // the branch that it landed on
	Commit string    `json:"commit,omitempty"` // of that branch then, "" where there was nothing to land
	Ref    string    `json:"ref,omitempty"`    // has what was discarded
	Here   bool      `json:"-"`                // it is there still
}

// pastName is the file beside the records that knows the trees of a repository, a line
// each time that one is made or goes.
const pastName = "trees.jsonl"

// maxPast bounds what is read of it, in bytes: the newest.
const maxPast = 4 << 20

func (t Tree) past(fate Fate) Past {
	now := time.Now().Truncate(time.Millisecond) // as precise as the history's
	return Past{Fate: fate, At: now, Folder: t.Folder, From: In(t.Path, t.Repo, t.Folder), Branch: t.Branch}
}

// PastOf returns what happened to the trees that stood for a folder, in that order.
func PastOf(folder string) []Past {
	common := CommonDir(folder)
	if common == "" {
		return nil
	}
	folder = paths.Real(folder)
	var trees []Past
	for line := range strings.Lines(readPast(common)) {
		var p Past
		if json.Unmarshal([]byte(line), &p) == nil && p.From == folder && filepath.IsAbs(p.Folder) {
			trees = append(trees, p)
		}
	}
	for _, t := range List(folder) {
		here := t.past(FateMade)
		if here.From != folder {
			continue
		}
		last := -1
		for i, p := range trees {
			if p.Folder == t.Folder {
				last = i
			}
		}
		if last < 0 || trees[last].Fate != FateMade {
			here.At = time.Time{} // nobody took that down
			trees = append(trees, here)
			last = len(trees) - 1
		}
		trees[last].Here = true
	}
	return trees
}

func readPast(common string) string {
	file, err := openPast(common, os.O_RDONLY)
	if err != nil {
		return "" // no tree was made yet
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, min(info.Size(), maxPast))
	n, _ := file.ReadAt(data, info.Size()-int64(len(data)))
	return string(data[:n])
}

// openPast opens the file. A planted entry of another kind isn't opened.
func openPast(common string, flag int) (*os.File, error) {
	root, err := regular.OpenRoot(common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return regular.OpenIn(root, filepath.Join("ralph", pastName), flag|regular.NoFollow, 0o666)
}

// takeDown adds a line. It begins a new one, so what a kill cut off takes no other along.
func takeDown(common string, p Past) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("taking down a worktree: %w", err)
	}
	file, err := openPast(common, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err == nil {
		_, err = file.Write([]byte("\n" + string(data)))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("taking down a worktree: %w", err)
	}
	return nil
}
