package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Fix is one thing in a session file that was mended, or would be.
type Fix struct {
	Line int    // where, 1 is the first
	What string // in one sentence
}

// String is "line 3: ...".
func (f Fix) String() string { return fmt.Sprintf("line %d: %s", f.Line, f.What) }

// Repair mends a pi session file that pi or a model's provider would stumble
// over, and tells what it did. cwd is the working directory for a session that
// has lost its header. The file as it was stays beside it, at backup; one that
// is healthy is left alone, and so is every file in a dry run.
//
// The error is a *FormatError for a file that is no pi session.
func Repair(path, cwd string, dryRun bool) (fixes []Fix, backup string, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("repairing the session: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, "", fmt.Errorf("%s is a link: repair %s itself", path, paths.Real(path))
	}
	if fixes, err = mend(path, cwd, io.Discard); err != nil || len(fixes) == 0 || dryRun {
		return fixes, "", err
	}
	if backup, err = replace(path, cwd, info); err != nil {
		return nil, "", fmt.Errorf("repairing the session: %w", err)
	}
	return fixes, backup, nil
}

// replace puts a mended copy in the place of a file.
func replace(path, cwd string, info fs.FileInfo) (backup string, err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".repair-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name()) // it is gone when all went well
	_, err = mend(path, cwd, temp)
	err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close())
	if err != nil {
		return "", err
	}
	now, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return "", errors.New("somebody is writing to it: end the loop, or pi, first")
	}
	if backup, err = backUp(path, info.Mode().Perm()); err != nil {
		return "", err
	}
	return backup, os.Rename(temp.Name(), path)
}

// backUp copies a file to the first free name beside it.
func backUp(path string, mode fs.FileMode) (backup string, err error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	for n := 1; ; n++ {
		backup = path + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", path, n)
		}
		to, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(to, from)
		return backup, errors.Join(err, to.Sync(), to.Close())
	}
}

// mend writes a session to out as it should be.
func mend(path, cwd string, out io.Writer) ([]Fix, error) {
	top, err := findHeader(path, cwd)
	if err != nil {
		return nil, err
	}
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("reading the session: %w", err)
	}
	defer file.Close()
	buffered := bufio.NewWriter(out)
	m := mender{out: buffered, header: top, nodes: map[string]mendNode{}, renamed: map[string]string{}}
	lines := newLineReader(file, 0)
	for {
		start := lines.offset
		line, err := lines.next()
		if err != nil {
			if err := lines.failure(err); err != nil {
				return nil, fmt.Errorf("reading the session: %w", err)
			}
			break
		}
		m.number++
		if lines.skipped > 0 {
			break
		}
		m.ending = "\n"
		if int(lines.offset-start)-len(line) == len("\r\n") {
			m.ending = "\r\n"
		}
		m.line(line, lines.torn)
	}
	if lines.skipped > 0 {
		return nil, fmt.Errorf("%s has a line of more than %d MiB, which can't be mended", path, maxLine>>20)
	}
	m.settle()
	if err := errors.Join(m.err, buffered.Flush()); err != nil {
		return nil, fmt.Errorf("writing the session: %w", err)
	}
	return m.fixes, nil
}

// topLine is the header that a session has, or should have.
type topLine struct {
	line  []byte
	first bool // it is where it should be
	found bool
	v1    bool // of pi's first version, whose entries have no ids
}

// findHeader looks for a session's header, and makes one for a session that has
// lost it.
func findHeader(path, cwd string) (top topLine, err error) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return top, fmt.Errorf("reading the session: %w", err)
	}
	defer file.Close()
	lines := newLineReader(file, 0)
	entries := 0
	var since string
	for {
		line, err := lines.next()
		if err != nil {
			if err := lines.failure(err); err != nil {
				return top, fmt.Errorf("reading the session: %w", err)
			}
			break
		}
		n := strictNode(line)
		switch {
		case !n.ok:
			continue
		case n.claude:
			return top, fmt.Errorf("%s is a transcript of claude's: only pi's sessions can be mended", path)
		case n.kind == "session" && n.id != "":
			top = topLine{line: append([]byte(nil), withoutBOM(line)...), first: entries == 0, found: true, v1: n.version < 2}
			return top, nil
		case isEntry(n.kind):
			if entries++; entries == 1 {
				since = n.time
			}
		}
	}
	if entries == 0 {
		return top, &FormatError{Path: path}
	}
	if since == "" {
		since = stamp(time.Now())
	}
	line, err := marshalLine(header{Type: "session", Version: version, ID: newSessionID(time.Now()), Timestamp: since, CWD: paths.Real(cwd)})
	return topLine{line: line[:len(line)-1]}, err
}

// isEntry says whether pi writes entries of that type.
func isEntry(kind string) bool {
	switch kind {
	case "message", "custom", "custom_message", "model_change", "thinking_level_change", "compaction",
		"branch_summary", "label", "session_info", "context_edit", "usage":
		return true
	}
	return false
}
