package filelock

import (
	"context"
	"os"
	"time"
)

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
