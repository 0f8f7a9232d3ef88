// Package notes is the file in which runs of a loop leave word for later ones. It is in the loop's
// folder, anybody there may write it, and nobody believes it.
package notes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// How much of the file is kept, and how much of it a run is told: the newest lines.
const (
	MaxFile = 64 << 10
	MaxTold = 8 << 10
)

// open opens the file of a folder, and makes it where it may be written. A link that leads out of
// the folder, and what is no file of this user's alone, is refused.
func open(folder, name string, flags int) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("the notes %s aren't in the folder; name a file in it", name)
	}
	folder = paths.Real(folder)
	dir := filepath.Dir(filepath.Join(folder, name))
	if flags&os.O_CREATE != 0 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if rel, err := filepath.Rel(folder, paths.Real(dir)); err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the notes %s lie behind a link that leads out of the folder; remove it", name)
	}
	return paths.OpenOwn(filepath.Join(dir, filepath.Base(name)), flags)
}

// Read returns the newest lines, at most so many bytes of them; none where there is no file.
func Read(folder, name string, most int) (string, error) {
	file, err := open(folder, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer file.Close()
	return newest(file, most)
}

// newest reads the last lines of a file that fit.
func newest(file *os.File, most int) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	from := max(info.Size()-int64(most), 0)
	data, err := io.ReadAll(io.NewSectionReader(file, max(from-1, 0), int64(most)+1))
	text := string(data)
	if from > 0 { // the note that begins before that isn't whole
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, err
}

// Add writes a line of its own for a note, below those that are there. Others who add one wait.
func Add(ctx context.Context, folder, name, note string) error {
	file, err := open(folder, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := filelock.Wait(ctx, file); err != nil {
		return fmt.Errorf("waiting for who writes %s: %w", name, err)
	}
	defer filelock.Unlock(file)
	text, err := newest(file, MaxFile-len(note)-2)
	if err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += note + "\n"
	if _, err = file.WriteAt([]byte(text), 0); err == nil {
		err = file.Truncate(int64(len(text)))
	}
	return err
}
