package snapshots

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// MaxDiff is how much of what was changed a reviewer is shown, in bytes.
const MaxDiff = 60 << 10

// Take has what was changed since the last snapshot be nobody's iteration's.
func (s *Taker) Take() (taken changes.Taken, err error) {
	if s.begun == nil {
		return taken, ErrNone
	}
	if <-s.begun; s.Store == nil {
		return taken, s.lost
	}
	taken, err = s.Store.Snapshots.Start(s.Going)
	s.Last = time.Now()
	s.tell(taken, err)
	return taken, err
}

// TellOfReviewer says that a reviewer didn't only read.
func (s *Taker) TellOfReviewer(name string) {
	if taken, err := s.Take(); err == nil && taken.Files > 0 {
		s.warn(fmt.Sprintf("the reviewer %s changed %s (+%d -%d), although it is to read only; that doesn't count as the loop's work",
			name, format.Counted(taken.Files, "file"), taken.Added, taken.Removed))
	}
}

// DiffSection shows what the loop changed.
func (s *Taker) DiffSection() string {
	if s.begun == nil || s.Store == nil {
		return "Nobody knows what was changed: look at the files.\n"
	}
	diff, all, err := s.Store.Diff.Text(s.Going, changes.Range{To: changes.Latest}, nil, MaxDiff)
	if err != nil {
		return "Nobody knows what was changed: look at the files.\n"
	}
	text := fmt.Sprintf("What was changed since the loop began:\n<diff>\n%s\n</diff>\n",
		Quoted("diff", strings.ToValidUTF8(string(diff), "?")))
	if all {
		return text
	}
	text += fmt.Sprintf("The diff is cut: it has more than %d KiB. ", MaxDiff>>10)
	if files, err := s.Store.Diff.Files(s.Going, changes.Range{To: changes.Latest}, nil); err == nil {
		text += fmt.Sprintf("Look at the rest in the files; %s changed", format.Counted(len(files), "file"))
		for i, f := range files {
			if i == 100 {
				text += ", ..."
				break
			}
			text += cmp.Or(map[bool]string{true: ": "}[i == 0], ", ") + stream.Sanitize(f.Path)
		}
	}
	return text + ".\n"
}

// Quoted is a text that can't end the tag around it.
func Quoted(tag, text string) string { return strings.ReplaceAll(text, "</"+tag, `<\/`+tag) }
