package worktree

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// maxNews bounds what is read of the log of a branch's moves, in bytes.
const maxNews = 256 << 10

// Commits says which commits are made in a folder from now on: each call of the result has those
// since the one before, "1a2b3c4d5 subject", and of a repository below the folder "api: 1a2b3c4d5 subject". It reads
// git's own log of HEAD's moves and starts no
// git. Without that log there are none.
func Commits(folder string) (since func() []string) {
	var logs []moves
	for dir := paths.Real(folder); len(logs) == 0; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			logs = append(logs, movesOf(gitDirOf(dir), ""))
		} else if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, r := range git.Below(paths.Real(folder)) {
		logs = append(logs, movesOf(r.Dir, r.Name+": "))
	}
	return func() (made []string) {
		for i := range logs {
			made = append(made, logs[i].news()...)
		}
		return made
	}
}

// moves are git's log of HEAD's moves, and how far it is told.
type moves struct {
	file, where string
	at          int64
}

func movesOf(gitDir, where string) moves {
	file := filepath.Join(gitDir, "logs", "HEAD")
	return moves{file, where, sizeOf(file)}
}

// news are the commits since it was asked last.
func (m *moves) news() []string {
	from := m.at
	m.at = sizeOf(m.file)
	made := commitsIn(textFrom(m.file, from, m.at))
	for i := range made {
		made[i] = m.where + made[i]
	}
	return made
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
