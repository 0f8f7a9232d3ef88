package git

import (
	"fmt"
	"strconv"
	"strings"
)

// HunkArgs have git diff print what Hunks reads.
var HunkArgs = []string{"-p", "-U0", "--no-color", "--src-prefix=", "--dst-prefix="}

// Hunk is a row of lines that were replaced by others. Where it has no lines on
// a side, it is behind the line that it names, from 1.
type Hunk struct {
	OldAt, Removed, NewAt, Added int
	Text                         string // the first line that was added, else the first that was removed
}

// Hunks reads a patch, by the path of each file as it is now. Of a patch that was cut off it returns the whole hunks.
func Hunks(patch []byte) (map[string][]Hunk, error) {
	found := map[string][]Hunk{}
	path, inHead := "", false
	for line := range strings.Lines(string(patch)) {
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
			if last.Text == "" && (line[0] == '+' || last.Added == 0) {
				last.Text = line[1:]
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
func hunkOf(line string) (h Hunk, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return h, fmt.Errorf("git diff-tree: what it prints can't be read: %q", line)
	}
	h.OldAt, h.Removed = rangeIn(words[1])
	h.NewAt, h.Added = rangeIn(words[2])
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
