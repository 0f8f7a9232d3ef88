// Package submitter is for who may submit loops to a fleet, and see, watch, cancel and fetch their own, and may not touch
// its bus: Desk is the side of serve, which may do everything there, and Client the submitter's.
package submitter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// request is what a submitter asks for: one of these.
type request struct {
	Send   string      `json:"send,omitempty"` // a repository's file, whose parts come as answers to what is asked more
	Submit *fleet.Task `json:"submit,omitempty"`
	Prompt string      `json:"prompt,omitempty"` // of that
	Read   string      `json:"read,omitempty"`   // listed, a loop, or a file of one; its parts are told
	Cancel string      `json:"cancel,omitempty"` // a loop
}

// answer is what comes of that.
type answer struct {
	Error   string       `json:"error,omitempty"`
	Missing bool         `json:"missing,omitempty"` // the error is fleet.ErrNotFound
	Record  fleet.Record `json:"record,omitzero"`
	IsNew   bool         `json:"new,omitempty"`
}

// listed is read for the submitter's loops, a record on each line.
const listed = "loops"

// recordOf stands before the id of a loop whose record is read, or one of its files.
const recordOf = "loop/"

// liveOf stands before the attempt and the line, with a dash between, behind which is read what a loop says live.
const liveOf = "live-"

// partSize bounds a part of what is sent and read: a message on the bus has 256 KiB at most.
const partSize = 128 << 10

// maxRepo bounds a repository, in bytes.
var maxRepo = 1 << 30

// Desk does what one submitter asks for.
type Desk struct {
	Bus   fleet.Bus
	Name  string                                            // of the submitter
	Dir   string                                            // for what is sent
	Check func(ctx context.Context, task *fleet.Task) error // that its flags are some that a submitter may give

	sending sync.Mutex      // held while a repository is sent
	sent    sync.Map        // the commits whose repositories the submitter has sent
	asking  sync.Mutex      // held for lanes
	lanes   map[string]bool // those of the submitter's loops, by their tokens
}

// maxLanes is how many kinds of workers a submitter's loops may ask for, until serve begins anew: all lanes are one value
// on the bus.
const maxLanes = 32

// mayWaitIn says why a task can't wait in its lane.
func (d *Desk) mayWaitIn(t fleet.Task) error {
	token := fleet.LaneOf(fleet.Record{Task: t}).Token()
	d.asking.Lock()
	defer d.asking.Unlock()
	if !d.lanes[token] && len(d.lanes) >= maxLanes {
		return fmt.Errorf("a submitter's loops ask for at most %d kinds of workers (--on, --backend)", maxLanes)
	}
	if d.lanes == nil {
		d.lanes = map[string]bool{}
	}
	d.lanes[token] = true
	return nil
}

// Answer answers a request. more says something to who asks, and returns what they say to that.
func (d *Desk) Answer(ctx context.Context, data []byte, more func(context.Context, []byte) ([]byte, error)) []byte {
	ctx, done := context.WithCancel(ctx)
	defer done() // what is heard for it
	var q request
	var a answer
	err := fleet.Decode(data, &q)
	switch {
	case err != nil:
	case q.Send != "":
		err = d.take(ctx, strings.TrimPrefix(q.Send, fleet.Task{}.RepoFile()), more)
	case q.Submit != nil:
		a.Record, a.IsNew, err = d.submit(ctx, *q.Submit, q.Prompt)
	case q.Read != "":
		err = d.read(ctx, q.Read, more)
	case q.Cancel != "":
		var r fleet.Record
		if r, err = d.own(ctx, q.Cancel); err == nil {
			err = (&fleet.Handle{Ctx: ctx, Bus: d.Bus, Record: r}).Cancel()
		}
	default:
		err = errors.New("a submitter can't ask for that")
	}
	if err != nil {
		a = answer{Error: format.WithoutUserinfo(err.Error()), Missing: errors.Is(err, fleet.ErrNotFound)}
	}
	encoded, _ := fleet.Encode(a) // texts, and a record that was read
	return encoded
}

// own is a loop of the submitter's. Another's is none.
func (d *Desk) own(ctx context.Context, id string) (fleet.Record, error) {
	r, _, err := d.Bus.Get(ctx, id)
	if err != nil || r.Labels[fleet.LabelSubmitter] != d.Name {
		return fleet.Record{}, fleet.ErrNotFound
	}
	return r, nil
}

// take takes the repository of a commit. What is on the bus already stays: another's loops may begin with it.
func (d *Desk) take(ctx context.Context, commit string, more func(context.Context, []byte) ([]byte, error)) error {
	d.sending.Lock()
	defer d.sending.Unlock()
	f, err := os.CreateTemp(d.Dir, "repo-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	for size := 0; ; {
		part, err := more(ctx, nil)
		if err == nil {
			_, err = f.Write(part)
		}
		if size += len(part); err == nil && size > maxRepo {
			err = fmt.Errorf("the repository has more than %d MiB", maxRepo>>20)
		}
		if err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
	}
	if err := fleet.CheckBundle(ctx, f.Name(), commit); err != nil {
		return err
	}
	file := fleet.Task{Base: commit}.RepoFile()
	if err = d.Bus.KeepFile(ctx, file); errors.Is(err, fleet.ErrNotFound) {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = d.Bus.PutFile(ctx, file, f)
		}
	}
	if err == nil {
		d.sent.Store(commit, nil)
	}
	return err
}

// submit puts a loop on the bus as it may be: with walls, of this submitter and of a repository that they have.
func (d *Desk) submit(ctx context.Context, t fleet.Task, prompt string) (r fleet.Record, isNew bool, err error) {
	_, isSent := d.sent.Load(t.Base)
	switch {
	case !t.Bundled || len(t.Setup) > 0 || t.Trust || t.Priority != fleet.Normal && t.Priority != fleet.Low:
		return r, false, errors.New("a submitter can't give --setup, --trust, --priority high, or a URL as --repo: workers do " +
			"these with rights of their own")
	case !isSent:
		return r, false, errors.New("its repository isn't sent: submit again")
	case strings.TrimSpace(prompt) == "":
		return r, false, errors.New("the prompt is empty: say what the agent should do")
	}
	t.Repo = "submitter:" + d.Name + ":" + t.Repo // a worker's copies of it are for these loops alone
	if t.At = time.Now().UTC(); t.Labels == nil {
		t.Labels = map[string]string{}
	}
	t.Labels[fleet.LabelSubmitter] = d.Name
	if err := d.Check(ctx, &t); err != nil {
		return r, false, err
	}
	if isWalled, err := d.isWalled(ctx, t.Queue); err != nil {
		return r, false, err
	} else if !isWalled {
		t.On = append(t.On, fleet.LabelWalls)
	}
	t.Identify(prompt)
	if err := errors.Join(t.Check(), t.Fits()); err != nil {
		return r, false, err
	}
	if err := d.mayWaitIn(t); err != nil {
		return r, false, err
	}
	if r, isNew, err = (fleet.Door{Bus: d.Bus}).Enter(ctx, t, prompt); err == nil && r.Labels[fleet.LabelSubmitter] != d.Name {
		return fleet.Record{}, false, fleet.ErrExists
	}
	return r, isNew, err
}

// isWalled says whether the machines of a queue's workers are walls enough for loops of submitters.
func (d *Desk) isWalled(ctx context.Context, queue string) (bool, error) {
	if queue == "" {
		return false, nil
	}
	l, err := ledger.QueueOf(ctx, d.Bus, queue)
	return err == nil && l.Queue.Walled, err
}

// read tells a loop of the submitter's, a file of one, or the list of all.
func (d *Desk) read(ctx context.Context, name string, more func(context.Context, []byte) ([]byte, error)) error {
	from := io.Reader(nil)
	if name == listed {
		all, _, err := d.Bus.List(ctx)
		if err != nil {
			return err
		}
		var lines bytes.Buffer
		for _, r := range all {
			if r.Labels[fleet.LabelSubmitter] == d.Name {
				line, _ := fleet.Encode(r) // it was read
				lines.Write(append(line, '\n'))
			}
		}
		from = &lines
	} else {
		id, file, _ := strings.Cut(strings.TrimPrefix(name, recordOf), "/")
		r, err := d.own(ctx, id)
		if err != nil || !strings.HasPrefix(name, recordOf) {
			return fleet.ErrNotFound
		}
		if file == "" {
			record, _ := fleet.Encode(r) // it was read
			from = bytes.NewReader(record)
		} else if behind, isLive := strings.CutPrefix(file, liveOf); isLive {
			if from, err = d.live(ctx, id, behind); err != nil {
				return err
			}
		} else {
			f, err := d.Bus.File(ctx, name)
			if err != nil {
				return err
			}
			defer f.Close()
			from = f
		}
	}
	for part := make([]byte, partSize); ; {
		n, err := io.ReadFull(from, part)
		if n > 0 {
			if _, err := more(ctx, part[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// live is what a loop has said live, a line each with its attempt and number, behind those that who asks has heard.
func (d *Desk) live(ctx context.Context, id, behind string) (io.Reader, error) {
	var attempt, line int
	if _, err := fmt.Sscanf(behind, "%d-%d", &attempt, &line); err != nil {
		return nil, fleet.ErrNotFound
	}
	heard, err := d.Bus.Hear(ctx, id, true)
	if err != nil {
		return nil, err
	}
	return &live{ctx: ctx, heard: heard, attempt: attempt, line: line}, nil
}

// live reads lines as they are heard, those behind a line of an attempt.
type live struct {
	ctx           context.Context
	heard         <-chan []byte
	attempt, line int
	rest          []byte // of the one that is read
}

// Read implements io.Reader.
func (l *live) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		said, ok := <-l.heard
		if !ok {
			return 0, cmp.Or(l.ctx.Err(), io.EOF)
		}
		if at, n, _ := livelog.Untag(said); at > l.attempt || at == l.attempt && n > l.line {
			l.rest = append(bytes.TrimRight(said, "\n"), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
