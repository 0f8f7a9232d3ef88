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
