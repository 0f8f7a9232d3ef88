package backends

import (
	"os"
	"sync"
)

// maxSaid is how many bytes of messages may wait for an agent to read them, behind its prompt. Further ones have to
// wait for the next run.
const maxSaid = 8 << 20

// input is an agent's standard input. Messages wait in a queue, so that an agent that doesn't read keeps nobody
// waiting; one goroutine writes them.
type input struct {
	w *os.File

	mu      sync.Mutex
	queue   [][]byte   // whole lines
	waiting int        // bytes in queue
	closed  bool       // nothing more goes in
	more    *sync.Cond // there is a line, or there will be none
}

// newInput returns the input that writes to w, and begins with first.
func newInput(w *os.File, first []byte) *input {
	in := &input{w: w, queue: [][]byte{first}, waiting: len(first)}
	in.more = sync.NewCond(&in.mu)
	go in.write()
	return in
}

// write writes until the input is closed. A broken pipe means that the agent
// doesn't want the rest.
func (in *input) write() {
	defer in.w.Close()
	for line := in.next(); line != nil; line = in.next() {
		if _, err := in.w.Write(line); err != nil {
			in.close()
		}
	}
}

// next waits for the next line and takes it out of the queue; nil once the input is closed.
func (in *input) next() (line []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.queue) == 0 && !in.closed {
		in.more.Wait()
	}
	if len(in.queue) > 0 {
		line, in.queue = in.queue[0], in.queue[1:]
		in.waiting -= len(line)
	}
	return line
}

// send puts lines behind those that wait, all or none of them. It returns false once the input is closed.
func (in *input) send(lines ...[]byte) bool {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || in.waiting+size > maxSaid {
		return false
	}
	in.queue, in.waiting = append(in.queue, lines...), in.waiting+size
	in.more.Signal()
	return true
}

// finish ends the input behind what waits.
func (in *input) finish() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.more.Signal()
}

// close ends the input behind the line that is being written. Waiting lines are dropped.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed, in.queue, in.waiting = true, nil, 0
	in.more.Signal()
}
