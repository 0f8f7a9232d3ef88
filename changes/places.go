package changes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Place is where lines of a file changed.
type Place struct {
	Line    int    // where to look in the file as the last snapshot has it, from 1
	Added   int    // lines
	Removed int    // lines
	Text    string // the first line that was added, else the first that was removed
}

// maxPlaces bounds the places of one file: nobody walks through more.
const maxPlaces = 100

// Places finds where text files changed, by path. Other changes have no place.
//
// Errors: those of Files.
func (s *views) Places(ctx context.Context, r Range, paths []string) (map[string][]Place, error) {
	from, to, within, err := s.ends(ctx, r, paths)
	if err != nil {
		return nil, err
	}
	changed, err := s.hunks(ctx, from, to, within)
	if err != nil {
		return nil, err
	}
	since := map[string][]hunk{}
	if r.To >= 0 {
		if from, to, _, err = s.ends(ctx, Range{From: r.To, To: Latest}, nil); err != nil {
			return nil, err
		}
		if since, err = s.hunks(ctx, from, to, within); err != nil {
			return nil, err
		}
	}
	found := map[string][]Place{}
	for path, hunks := range changed {
		for _, h := range hunks[:min(len(hunks), maxPlaces)] {
			line := max(moved(h.newAt, since[path]), 1)
			found[path] = append(found[path], Place{Line: line, Added: h.added, Removed: h.removed, Text: h.text})
		}
	}
	return found, nil
}

// moved is where a line is after later changes.
func moved(line int, since []hunk) int {
	now := line
	for _, h := range since {
		if line >= h.oldAt+max(h.removed, 1) {
			now += h.added - h.removed
		}
	}
	return now
}

// hunk is a row of lines that were replaced by others. Where it has no lines on
// a side, it is behind the line that it names.
type hunk struct {
	oldAt, removed, newAt, added int
	text                         string
}

// hunks are what differs between two trees, by the path in the second one.
func (s *views) hunks(ctx context.Context, from, to string, within []string) (map[string][]hunk, error) {
	out, _, err := s.git.UpTo(MaxContent).RunSome(ctx, s.diffArgs([]string{"-p", "-U0", "-M", "--no-color", "--src-prefix=", "--dst-prefix="}, from, to, within)...)
	if err != nil {
		return nil, lost(err)
	}
	found := map[string][]hunk{}
	path, inHead := "", false
	for line := range strings.Lines(string(out)) {
		line, isWhole := strings.CutSuffix(line, "\n")
		switch {
		case !isWhole: // there is too much of it
		case strings.HasPrefix(line, "diff --git "): // no line of a file begins like this: each has a sign
			path, inHead = "", true
		case inHead && strings.HasPrefix(line, "+++ "):
			path = pathIn(strings.TrimPrefix(line, "+++ "))
		case path != "" && strings.HasPrefix(line, "@@ "):
			h, err := hunkOf(line)
			if err != nil {
				return nil, err
			}
			found[path], inHead = append(found[path], h), false
		case !inHead && path != "" && len(line) > 0:
			last := &found[path][len(found[path])-1]
			if last.text == "" && (line[0] == '+' || last.added == 0) {
				last.text = line[1:]
			}
		}
	}
	return found, nil
}

// pathIn is a path as a patch has it: unusual ones are quoted, and one with a
// space has a tab behind it. That of a deleted file is none.
func pathIn(text string) string {
	text = strings.TrimSuffix(text, "\t")
	if unquoted, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		return unquoted
	}
	if text == "/dev/null" {
		return ""
	}
	return text
}

// hunkOf reads "@@ -1,2 +3 @@ ...".
func hunkOf(line string) (h hunk, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return h, fmt.Errorf("git diff-tree: what it prints can't be read: %q", line)
	}
	h.oldAt, h.removed = rangeIn(words[1])
	h.newAt, h.added = rangeIn(words[2])
	return h, nil
}

// rangeIn reads "-5,2"; without a count it is 1.
func rangeIn(text string) (at, count int) {
	first, second, found := strings.Cut(text[1:], ",")
	at, _ = strconv.Atoi(first)
	if count = 1; found {
		count, _ = strconv.Atoi(second)
	}
	return at, count
}
