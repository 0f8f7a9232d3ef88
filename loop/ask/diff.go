package ask

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	// maxCompared is how large a file may be to be compared with what an agent wants to write, in bytes.
	maxCompared = 1 << 20
	// maxTaken is how much is shown of lines in a row that a long diff takes out, in bytes.
	maxTaken = 1 << 10
)

// writeDetail is what writing a text over a file would change there: a diff, or why there is
// none and all of the text.
func (r Reader) writeDetail(name, text string) string {
	var b strings.Builder
	title := stream.Line(name, MaxDetail)
	old, err := r.present(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		b.WriteString("--- " + title + " (" + err.Error() + ", so it isn't compared)\n")
	case string(old) == text:
		return "--- " + title + "\n+++ " + title + "\nThe file is like that already.\n"
	default:
		return "--- " + title + "\n+++ " + title + "\n" + hunks(old, []byte(text))
	}
	b.WriteString("+++ " + title + "\n")
	prefixed(&b, "+", text)
	return b.String()
}

// hunks returns the hunks of a diff. New text counts most: in a long diff, the old text is shortened.
func hunks(old, text []byte) string {
	_, all, _ := bytes.Cut(diff.Diff("", old, "", text), []byte("\n@@"))
	long := "@@" + string(all)
	if len(long) <= MaxFileDetail {
		return long
	}
	var b, run strings.Builder
	mark := byte('@')
	flush := func() {
		part := run.String()
		if mark == '-' || mark == ' ' {
			part, _, _ = format.Excerpt(part, maxTaken)
		}
		b.WriteString(part)
		run.Reset()
	}
	for line := range strings.Lines(long) {
		if line[0] != mark {
			flush()
			mark = line[0]
		}
		run.WriteString(line)
	}
	flush()
	return b.String()
}

// present is the text that a file of the folder has. The error is fs.ErrNotExist, or says in
// words why it isn't read: an agent names the file, and no walls are around who reads it.
func (r Reader) present(name string) (text []byte, err error) {
	rel := r.inFolder(name)
	if !filepath.IsLocal(rel) {
		return nil, errors.New("outside of the folder")
	}
	root, err := regular.OpenRoot(r.Dir)
	if err != nil {
		return nil, errors.New("not readable")
	}
	defer root.Close()
	place := paths.Real(filepath.Join(r.Dir, rel))
	file, err := regular.OpenIn(root, rel, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case errors.As(err, &regular.KindError{}):
		return nil, errors.New("not a regular file")
	case err != nil:
		return nil, errors.New("not readable, or outside of the folder")
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, errors.New("not readable")
	}
	if now, err := os.Lstat(place); err != nil || !os.SameFile(info, now) { // a link took the file's place meanwhile
		return nil, errors.New("it changes right now")
	}
	if r.Hides != nil && r.Hides(place) { // the agent can read what it asks in the session file
		return nil, errors.New("hidden by the sandbox")
	}
	text, err = regular.All(file, maxCompared)
	switch {
	case errors.As(err, &regular.SizeError{}):
		return nil, errors.New("larger than 1 MiB")
	case err != nil:
		return nil, errors.New("not readable")
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("not a text")
	}
	return text, nil
}
