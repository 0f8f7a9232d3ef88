package loopstate

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// lingerTime is how long a file that was replaced is kept in sight where
	// the system tells whether somebody has it open for writing. Who was on the
	// way to it at that moment needs microseconds.
	lingerTime = 20 * time.Millisecond
	// blindTime is the same where the system doesn't tell.
	blindTime = 200 * time.Millisecond
	// heldPoll is how often it is looked at while somebody has it open.
	heldPoll = 100 * time.Millisecond
)

// replaced is a file that lost its place, and maybe its last name, to one of
// ours. An editor that was on the way to it then, or had it open, saves into
// it; that belongs into the file that is in the place now.
type replaced struct {
	file *os.File
	base []byte // what is in it as far as the file in the place has it
	done chan struct{}

	leaveOnce sync.Once
	leave     chan struct{} // closed when only a save that is under way is waited for
}

// linger keeps a replaced file in sight until nobody can write it any more.
func (f *File) linger(file *os.File, base []byte) {
	r := &replaced{file: file, base: base, leave: make(chan struct{}), done: make(chan struct{})}
	f.lingering.Lock()
	f.replaced[r] = true
	f.lingering.Unlock()
	go func() {
		defer close(r.done)
		f.watchReplaced(r)
		file.Close()
		f.lingering.Lock()
		delete(f.replaced, r)
		f.lingering.Unlock()
	}()
}

// Settle returns when saves that fell into our updates are in the file. Who
// exits after an update has to call it.
func (f *File) Settle() {
	for r := f.anyReplaced(); r != nil; r = f.anyReplaced() { // taking one over replaces another
		r.leaveOnce.Do(func() { close(r.leave) })
		<-r.done
	}
}

func (f *File) anyReplaced() *replaced {
	f.lingering.Lock()
	defer f.lingering.Unlock()
	for r := range f.replaced {
		return r
	}
	return nil
}

// watchReplaced takes over what is written into a replaced file, each time it
// comes to rest, until nobody has it open for writing.
func (f *File) watchReplaced(r *replaced) {
	var p patience
	began := time.Now()
	for pause := lingerTime; ; pause = min(2*pause, heldPoll) {
		time.Sleep(pause)
		now, writing, err := f.readReplaced(r)
		if err != nil {
			return
		}
		rest := time.Duration(0)
		switch {
		case errors.Is(writing, errBeingWritten):
			rest = heldTime
		case writing != nil:
			rest = blindTime
		}
		if quiet := min(p.quiet(now.fileState), time.Since(began)); quiet < rest {
			if r.isLeft() && time.Since(began) > saveTime {
				return
			}
			continue
		}
		if !bytes.Equal(now.data, r.base) {
			if _, err := Parse(now.data); err != nil && rest == heldTime && !r.isLeft() {
				continue // the beginning of a save by somebody who is slow
			}
			if f.takeOver(r.base, now.data) != nil && time.Since(began) < saveTime {
				continue
			}
			r.base = now.data
		}
		if rest < heldTime || r.isLeft() {
			return
		}
	}
}

// content is what is in a file.
type content struct {
	fileState
	data []byte
}

// readReplaced reads a replaced file. writing is what the lease on it says.
func (f *File) readReplaced(r *replaced) (now content, writing, err error) {
	if writing = f.lease(r.file); writing == nil {
		defer endLease(r.file)
	}
	info, err := r.file.Stat()
	if err != nil {
		return content{}, writing, err
	}
	if same, err := hasContent(r.file, r.base); err != nil || same {
		return content{stateOf(info), r.base}, writing, err
	}
	data, err := readAll(r.file, info.Size())
	return content{stateOf(info), data}, writing, err
}

func (r *replaced) isLeft() bool {
	select {
	case <-r.leave:
		return true
	default:
		return false
	}
}
