package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	f.log.flush() // a reader that is told of a line finds it in the file
	s, over, done, err := f.log.source()
	if err != nil {
		return Lines{}, err
	}
	defer done()
	l, at, err := s.lines(f.at, buf)
	if err != nil {
		return Lines{}, err
	}
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

// lines are those behind an offset, and where they end.
func (s source) lines(from int64, buf []byte) (Lines, int64, error) {
	at, end := s.until(max(from, s.first))
	l := Lines{Lost: at != max(from, s.first)}
	for size := int64(rawChunk); ; size *= 4 {
		size = min(size, end-at)
		if int64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		n, err := s.ReadAt(buf[:size], at)
		if err != nil && err != io.EOF {
			return Lines{}, at, err
		}
		last := bytes.LastIndexByte(buf[:n], '\n')
		if l.Data = buf[:last+1]; last >= 0 || int64(n) == end-at || int64(n) < size {
			break
		}
	}
	at += int64(len(l.Data))
	l.Cursor, l.Behind = cursor{s.name, at}.String(), s.end-at
	return l, at, nil
}

// Lines returns the lines behind a cursor without a look at them. buf may be an earlier one's Data.
func (r *Reader) Lines(after string, buf []byte) (Lines, error) {
	s, done, err := r.source()
	if err != nil {
		return Lines{}, err
	}
	defer done()
	at, known := s.find(after)
	if !known && after != "" {
		return Lines{}, errOther
	}
	l, _, err := s.lines(at, buf)
	return l, err
}

// errOther says that a cursor is of another journal, or behind what was written.
var errOther = errors.New("the cursor is not one of this journal")

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
