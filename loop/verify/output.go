package verify

import (
	"bytes"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	// MaxExcerpt bounds what is kept of an output, in bytes.
	MaxExcerpt = 4 << 10
	// maxScanned is how much of an output is read line by line as it comes. Of a
	// longer one the end counts besides.
	maxScanned = 16 << 20
	tailSize   = 32 << 10
	maxLine    = 4 << 10 // bytes of a line that are looked at
	shownLine  = 400     // bytes of a line in an excerpt
)

// Output reads a check's output and keeps the parts that count. Its size doesn't grow with the output. The zero value
// is ready.
type Output struct {
	mu      sync.Mutex
	size    int64
	line    []byte // that has no end yet
	tail    []byte // the last tailSize bytes and some more
	scanned scanner
}

// Write takes a piece of the output.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size < maxScanned {
		o.scan(p)
	}
	o.size += int64(len(p))
	o.tail = append(o.tail, p[max(0, len(p)-2*tailSize):]...)
	if over := len(o.tail) - tailSize; over > tailSize {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	return len(p), nil
}

// scan looks at the lines that a piece ends.
func (o *Output) scan(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		piece := p
		if i >= 0 {
			piece = p[:i]
		}
		o.line = append(o.line, piece[:min(len(piece), maxLine-len(o.line))]...)
		if i < 0 {
			return
		}
		o.scanned.add(string(o.line))
		o.line, p = o.line[:0], p[i+1:]
	}
}

// findings ends the reading, and returns what was found.
func (o *Output) findings() *scanner {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size < maxScanned {
		o.scanned.add(string(o.line))
	} else {
		for line := range strings.Lines(string(o.tail)) {
			o.scanned.add(line[:min(len(line), maxLine)])
		}
	}
	o.line = nil
	return &o.scanned
}

// Size is how many bytes came so far.
func (o *Output) Size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// Tail is the end of what came so far, at most MaxExcerpt bytes, as it may be shown.
func (o *Output) Tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last(MaxExcerpt)
}

// excerpt is the whole output if it is short, else the lines that say what failed
// and then the last ones.
func (o *Output) excerpt(f *scanner) string {
	const gap = "..."
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size <= MaxExcerpt || len(f.failed) == 0 {
		return o.last(MaxExcerpt)
	}
	first := strings.Join(f.failed, "\n") + "\n" + gap + "\n"
	return first + o.last(MaxExcerpt-len(first))
}

// last are the last lines of the output that are not longer than limit bytes together, as they may be
// shown. The caller holds mu.
func (o *Output) last(limit int) string {
	isCut := o.size > int64(len(o.tail)) // the first one may not be whole
	tail := o.tail[max(0, len(o.tail)-tailSize):]
	lines := strings.Split(strings.TrimRight(string(tail), "\r\n\t "), "\n")
	if isCut && len(lines) > 1 {
		lines = lines[1:]
	}
	from := len(lines)
	for room := limit; from > 0; from-- {
		line := shown(lines[from-1])
		if room -= len(line) + 1; room < -1 {
			break
		}
		lines[from-1] = line
	}
	return strings.Join(lines[from:], "\n")
}

// shown is a line as it may be shown, and not too long.
func shown(line string) string {
	line = strings.TrimRight(stream.Sanitize(strings.TrimRight(line[:min(len(line), maxLine)], "\r\n")), " \t")
	if len(line) > shownLine {
		line = strings.ToValidUTF8(line[:shownLine], "") + "..."
	}
	return line
}
