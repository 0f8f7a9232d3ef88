package filelock

import (
	"context"
	"os"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Hold opens a file, which it makes where there is none, and waits for its lock. That is let go
// when the file is closed, here and by whoever was given it.
func Hold(ctx context.Context, path string) (*os.File, error) {
	file, err := regular.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Wait(ctx, file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Wait locks an open file exclusively, once nobody else holds it. It fails when ctx is
// done before.
func Wait(ctx context.Context, file *os.File) error {
	for {
		locked, err := Try(file, true)
		if locked || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// IsNamed says whether path is still the open file. One that lost its name before it was locked
// guards nothing: others lock the next file of that name.
func IsNamed(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}
