// Package survey tells how far a first snapshot is.
package survey

import (
	"fmt"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Survey says how far the first snapshot is, to whoever asks while it is made. The zero value is one that hasn't begun.
type Survey struct{ files, ofFiles, bytes, ofBytes atomic.Int64 }

// Text says it in words: "1200 of 100000 files, 0.1 of 1.6 GB"; while git still looks for them, which those are.
func (l *Survey) Text() string {
	if l.ofFiles.Load() == 0 {
		return "which files there are"
	}
	return fmt.Sprintf("%d of %s, %s of %s", l.files.Load(), format.Counted(int(l.ofFiles.Load()), "file"),
		format.Bytes(l.bytes.Load()), format.Bytes(l.ofBytes.Load()))
}

// Begin says how much there is to take.
func (l *Survey) Begin(files int, bytes int64) {
	if l != nil {
		l.ofBytes.Store(bytes)
		l.ofFiles.Store(int64(files))
	}
}

// Add says that so much more is taken.
func (l *Survey) Add(files int, bytes int64) {
	if l != nil {
		l.files.Add(int64(files))
		l.bytes.Add(bytes)
	}
}
