package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"time"
)

// Lines are whole lines of a journal, as its file has them.
type Lines struct {
	Data     []byte
	Cursor   string // behind them
	Behind   int64  // bytes of lines that follow
	Lost     bool   // some before them couldn't be kept
	Complete bool   // nothing will come
	Progress []Item // how far things have come, where no line follows
}

// rawChunk is how many bytes of lines are passed on at once, unless one has more.
const rawChunk = 128 << 10

// Lines returns what comes next without a look at it. buf may be an earlier one's Data.
func (f *Follower) Lines(buf []byte) (Lines, error) {
	s, over, done, err := f.log.source()
	if err != nil {
		return Lines{}, err
	}
	defer done()
	at, end := s.until(max(f.at, s.first))
	l := Lines{Lost: at != max(f.at, s.first)}
	for size := int64(rawChunk); ; size *= 4 {
		size = min(size, end-at)
		if int64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		n, err := s.ReadAt(buf[:size], at)
		if err != nil && err != io.EOF {
			return Lines{}, err
		}
		last := bytes.LastIndexByte(buf[:n], '\n')
		if l.Data = buf[:last+1]; last >= 0 || int64(n) == end-at || int64(n) < size {
			break
		}
	}
	at += int64(len(l.Data))
	l.Cursor, l.Behind = cursor{s.name, at}.String(), s.end-at
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	f.at, f.cursor = at, l.Cursor
	if l.Behind == 0 {
		l.Complete = over
		for _, p := range f.log.inProgress {
			if p.number > f.progressed {
				l.Progress = append(l.Progress, p.item)
			}
		}
		f.progressed = f.log.progressed
	}
	return l, nil
}

// PageOf is the page of lines that another process has passed on. Their memory is the caller's.
func PageOf(lines []byte, thinking bool) Page {
	p := NewPager(Options{Thinking: thinking, Bytes: math.MaxInt})
	for line := range bytes.Lines(lines) {
		p.take(bytes.TrimSuffix(line, []byte("\n")), true)
	}
	return p.Page()
}

// progressLine is an Item as another process gets it.
type progressLine struct {
	I int             `json:"i"`
	T int64           `json:"t"`
	U json.RawMessage `json:"u"`
}

// MarshalJSON writes an item as a line of a journal has it.
func (it Item) MarshalJSON() ([]byte, error) {
	return json.Marshal(progressLine{it.Iteration, it.At.UnixMilli(), it.JSON})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (it *Item) UnmarshalJSON(data []byte) error {
	var line progressLine
	err := json.Unmarshal(data, &line)
	*it = Item{JSON: line.U, Iteration: line.I, At: time.UnixMilli(line.T)}
	return err
}
