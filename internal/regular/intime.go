package regular

import (
	"io/fs"
	"time"
)

// patience is how long a file system may take to open a file or to give all that is read of it.
const patience = 10 * time.Second

// looks is how often it is looked whether it has answered. A process that gets no processor misses all of them but one:
// its file system isn't slow for that.
const looks = 10

// atOnce bounds how many calls may wait for file systems: each holds a thread until the kernel lets it go.
const atOnce = 256

var waiting = make(chan struct{}, atOnce)

// inTime returns what do returns, or a SlowError when that takes too long: do is left alone then, and drop gets what
// comes of it.
func inTime[T any](path string, drop func(T), do func() (T, error)) (result T, err error) {
	ticker := time.NewTicker(patience / looks) // which drops what nobody takes
	defer ticker.Stop()
	slow := &fs.PathError{Op: "read", Path: path, Err: SlowError{patience}}
	looked, mayStart := 0, false
	for !mayStart {
		select {
		case waiting <- struct{}{}:
			mayStart = true
		case <-ticker.C:
			if looked++; looked == looks {
				return result, slow
			}
		}
	}
	type outcome struct {
		result T
		err    error
	}
	done, left := make(chan outcome), make(chan struct{})
	go func() {
		defer func() { <-waiting }()
		result, err := do()
		select {
		case done <- outcome{result, err}:
		case <-left:
			if err == nil && drop != nil {
				drop(result)
			}
		}
	}()
	for {
		select {
		case o := <-done:
			return o.result, o.err
		case <-ticker.C:
			if looked++; looked == looks {
				close(left)
				return result, slow
			}
		}
	}
}
