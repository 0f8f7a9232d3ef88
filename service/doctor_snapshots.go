package service

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// worthTelling is from how many bytes on somebody may want to know of the snapshots of a folder's loops.
const worthTelling = 100e6

// snapshotChecks tells how much the snapshots of the folder's loops have, where that is much.
func snapshotChecks(dir string, settings config.Settings) []answers.Check {
	all, err := changes.All(changes.Options{})
	if err != nil {
		return nil // without git there are none
	}
	folder := paths.Real(dir)
	loops, sum, largest := 0, int64(0), int64(0)
	for _, s := range all {
		if s.Folder == folder && s.Bytes > 0 {
			loops, sum, largest = loops+1, sum+s.Bytes, max(largest, s.Bytes)
		}
	}
	if sum < worthTelling {
		return nil
	}
	most := "without a limit (changes.max_mb)"
	if limit := settings.Changes.MaxMB; limit > 0 {
		most = "of at most " + format.Bytes(limit*1e6) + " (changes.max_mb)"
	}
	return []answers.Check{{ID: "snapshots", OK: true, Message: fmt.Sprintf("the snapshots of %s here have %s; the largest has %s %s",
		format.Counted(loops, "loop"), format.Bytes(sum), format.Bytes(largest), most)}}
}
