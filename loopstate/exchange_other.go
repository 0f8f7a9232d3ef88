//go:build !linux && !darwin

package loopstate

import "errors"

func exchangeFiles(a, b string) error { return errors.ErrUnsupported }
