package reaper

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"
)

// The two ends exchange messages over a stream socket: a length of four bytes,
// the kind, two numbers of eight bytes, and words, each with its length.
type message struct {
	kind  kind
	a, b  int
	words []string
}

type kind byte

// What the reaper is asked for. It answers start and sweep in their order, and nothing else.
const (
	askStart  kind = iota + 1 // a: flags; b: how many arguments; words: path, folder, arguments, environment; with three files
	askSignal                 // a: for the agent's process group
	askSweep                  // a: milliseconds of grace
	askBeat                   // nothing: who drives the loop is well
)

// What the reaper says.
const (
	sayStarted kind = iota + 101 // a: process id
	sayFailed                    // a: the system's error number
	saySwept                     // a: how many lived; words: the numbers of those that still do
	sayExited                    // of the agent, unasked. a: its wait status; b: 1 when it left nothing behind
	sayStopped                   // of the agent, unasked
)

// Flags of a start.
const (
	detached   = 1 << iota // a session of its own
	onTerminal             // the reaper's session gets the first file as its terminal, and the agent is the foreground job
	walled                 // the process is the outside of walls, the agent is below its child
)

const (
	headBytes  = 4
	fixedBytes = 1 + 8 + 8
	files      = 3 // that come with a start
)

var order = binary.LittleEndian

// frame is the message as it is sent.
func (m message) frame() []byte {
	b := append(make([]byte, headBytes), byte(m.kind))
	b = order.AppendUint64(order.AppendUint64(b, uint64(m.a)), uint64(m.b))
	for _, word := range m.words {
		b = append(order.AppendUint32(b, uint32(len(word))), word...)
	}
	order.PutUint32(b, uint32(len(b)-headBytes))
	return b
}

var errFrame = errors.New("a message that isn't one")

// parse reads a frame's body.
func parse(b []byte) (message, error) {
	if len(b) < fixedBytes {
		return message{}, errFrame
	}
	m := message{kind: kind(b[0]), a: int(order.Uint64(b[1:])), b: int(order.Uint64(b[9:]))}
	for b = b[fixedBytes:]; len(b) > 0; {
		if len(b) < headBytes || int(order.Uint32(b)) > len(b)-headBytes {
			return message{}, errFrame
		}
		end := headBytes + int(order.Uint32(b))
		m.words = append(m.words, string(b[headBytes:end]))
		b = b[end:]
	}
	return m, nil
}

// receive reads the next message.
func receive(r io.Reader) (message, error) {
	head := make([]byte, headBytes)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	body := make([]byte, order.Uint32(head))
	if _, err := io.ReadFull(r, body); err != nil {
		return message{}, err
	}
	return parse(body)
}

// send writes a message with files, which the other end gets with its first byte.
func send(socket *os.File, m message, with ...*os.File) error {
	frame := m.frame()
	var rights []byte
	if len(with) > 0 {
		fds := make([]int, len(with))
		for i, f := range with {
			fds[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var sent int
	var sendErr error
	err = raw.Write(func(fd uintptr) bool {
		sent, sendErr = syscall.SendmsgN(int(fd), frame, rights, nil, syscall.MSG_NOSIGNAL)
		return sendErr != syscall.EAGAIN && sendErr != syscall.EINTR
	})
	if err = errors.Join(err, sendErr); err != nil {
		return err
	}
	_, err = socket.Write(frame[sent:])
	return err
}

// rightsReader reads a blocking socket, and keeps the files that come.
type rightsReader struct {
	fd    int
	files []int
}

func (r *rightsReader) Read(b []byte) (int, error) {
	control := make([]byte, syscall.CmsgSpace(files*4))
	for {
		n, size, _, _, err := syscall.Recvmsg(r.fd, b, control, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		messages, err := syscall.ParseSocketControlMessage(control[:size])
		for _, m := range messages {
			if fds, err := syscall.ParseUnixRights(&m); err == nil {
				r.files = append(r.files, fds...)
			}
		}
		if n == 0 && err == nil {
			err = io.EOF
		}
		return n, err
	}
}
