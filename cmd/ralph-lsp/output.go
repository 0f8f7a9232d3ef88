package main

import (
	"io"
	"sync"
)

// output writes to stdout until that fails, as it does when the program it is
// piped to has ended or a disk is full. Then it swallows the rest and says so,
// once: the loop is to be ended in order, not killed by a signal in mid-run.
type output struct {
	to     io.Writer
	broken chan struct{} // closed at the first failure
	once   sync.Once
	err    error // the failure; read it after broken
}

func newOutput(to io.Writer) *output {
	return &output{to: to, broken: make(chan struct{})}
}

// Write never fails; see broken.
func (o *output) Write(p []byte) (int, error) {
	select {
	case <-o.broken:
		return len(p), nil
	default:
	}
	if _, err := o.to.Write(p); err != nil {
		o.once.Do(func() {
			o.err = err
			close(o.broken)
		})
	}
	return len(p), nil
}

// failure is why not all could be written, nil if all was.
func (o *output) failure() error {
	select {
	case <-o.broken:
		return o.err
	default:
		return nil
	}
}
