//go:build !linux

package loopstate

import (
	"errors"
	"os"
)

func takeLease(*os.File) error { return errors.ErrUnsupported }
func isAwaited(*os.File) bool  { return false }
func endLease(*os.File)        {}
