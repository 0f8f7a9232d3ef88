package worktree

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// maxNews bounds what is read of the log of a branch's moves, in bytes.
const maxNews = 256 << 10

// Commits says which commits are made in a folder from now on: each call of the result has those
// since the one before, "1a2b3c4d5 subject". It reads git's own log of HEAD's moves and starts no
// git. Without that log there are none.
func Commits(folder string) (since func() []string) {
	log := ""
	for dir := paths.Real(folder); log == ""; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			log = filepath.Join(gitDirOf(dir), "logs", "HEAD")
		} else if dir == filepath.Dir(dir) {
			return func() []string { return nil }
		}
	}
	at := sizeOf(log)
	return func() []string {
		from := at
		at = sizeOf(log)
		return commitsIn(textFrom(log, from, at))
	}
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// textFrom is a part of a file, of one that is too long its end.
func textFrom(name string, from, to int64) string {
	if to <= from {
		return ""
	}
	f, err := regular.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.NewSectionReader(f, max(from, to-maxNews), min(to-from, maxNews)))
	return string(data)
}

// commitsIn are the commits that a part of git's log tells of: "OLD NEW who <mail> time zone\tcommit: subject".
func commitsIn(log string) (made []string) {
	for line := range strings.Lines(log) {
		head, what, ok := strings.Cut(strings.TrimSpace(line), "\t")
		ids := strings.Fields(head)
		how, subject, isSaid := strings.Cut(what, ": ")
		if !ok || !isSaid || len(ids) < 2 || !isObject(ids[1]) || !strings.HasPrefix(how, "commit") && how != "cherry-pick" {
			continue
		}
		if how == "commit (amend)" {
			made = slices.DeleteFunc(made, func(commit string) bool { return strings.HasPrefix(commit, short(ids[0])+" ") })
		}
		made = append(made, short(ids[1])+" "+subject)
	}
	return made
}

func short(id string) string { return id[:min(len(id), 9)] }
