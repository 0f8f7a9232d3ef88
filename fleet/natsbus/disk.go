package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// diskSubject is where a server that ralph-fleet serves says how its disk is, with its id behind it.
const diskSubject = "ralph.disk."

// diskEvery is how often a server looks at its disk, and boundEvery whether its streams are still bounded as it said:
// somebody may have made them anew.
const (
	diskEvery  = time.Second
	boundEvery = 30 * time.Second
)

// Disk is that of a bus.
type Disk struct {
	Free    int64 `json:"free"` // bytes
	MinFree int64 `json:"minFree"`
	Failed  bool  `json:"failed,omitempty"` // writing did: it is served anew when there is room
}

// IsFull says whether no more files are kept.
func (d Disk) IsFull() bool { return d.Failed || d.Free < d.MinFree }

func (d Disk) String() string {
	if d.IsFull() {
		return fmt.Sprintf("the disk of the bus is full: %s of it are free, and %s are to stay so: no files are kept",
			format.Bytes(d.Free), format.Bytes(d.MinFree))
	}
	return fmt.Sprintf("the disk of the bus has %s left, of which %s stay free", format.Bytes(d.Free), format.Bytes(d.MinFree))
}

const makeRoom = "make room on that disk, or remove loops that have ended (ralph-fleet remove): the loops go on by themselves then"

// DiskOf asks the server for its disk. A NATS of somebody else's doesn't tell.
func DiskOf(ctx context.Context, b *Bus) (d Disk, isTold bool) {
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	m, err := b.conn.RequestWithContext(within, diskSubject+b.conn.ConnectedServerId(), nil)
	return d, err == nil && json.Unmarshal(m.Data, &d) == nil
}

// refused is the error of what can't be kept: that of a full disk, where it is one.
func refused(ctx context.Context, b *Bus, err error) error {
	if err == nil {
		return nil
	}
	if d, isTold := DiskOf(context.WithoutCancel(ctx), b); isTold && d.IsFull() {
		return &Problem{d.String(), makeRoom}
	}
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && strings.Contains(api.Description, "maximum bytes") {
		return &Problem{"the bus keeps no more files: its quota is used (serve --max-files)",
			"remove loops that have ended (ralph-fleet remove), or give it more"}
	}
	return err
}

// InProcessConn implements nats.InProcessConnProvider, for whichever server there is now.
func (s *Served) InProcessConn() (net.Conn, error) { return s.now().InProcessConn() }

// tend keeps files off a disk that is full, says how it is, and serves anew what has failed on it, until ctx is done.
func (s *Served) tend(ctx context.Context) {
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Token(s.options.Token), nats.MaxReconnects(-1),
		nats.ReconnectWait(diskEvery/4), nats.RetryOnFailedConnect(true))
	if err != nil {
		s.log.Error("nobody looks at the disk", "error", err)
		return
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return
	}
	var heard *nats.Subscription
	var isBound bool // as it has to be: the streams are asked only until then, and once in a while
	var looked time.Time
	for wasFull := false; ctx.Err() == nil; fleet.Pause(ctx, diskEvery) {
		free, err := s.options.free(s.options.Dir)
		if err != nil {
			continue
		}
		d := Disk{free, s.options.MinFree, s.failed.Load()}
		if d.Failed && free >= max(d.MinFree, 1<<20) {
			s.log.Warn("the disk has room again: the bus is served anew")
			if err := s.again(); err != nil {
				s.log.Error("the bus can't be served anew", "error", err)
				continue
			}
			heard, isBound, d.Failed = nil, false, false
		}
		s.disk.Store(&d)
		if heard == nil {
			heard, _ = conn.Subscribe(diskSubject+s.now().ID(), func(m *nats.Msg) {
				data, _ := json.Marshal(s.disk.Load()) // numbers
				m.Respond(data)                        // who asks has gone else
			})
		}
		if d.IsFull() != wasFull {
			isBound = false
			if wasFull = !wasFull; wasFull {
				s.log.Warn(d.String())
			} else {
				s.log.Info(d.String())
			}
		}
		if isBound && time.Since(looked) < boundEvery {
			continue
		}
		within, cancel := context.WithTimeout(ctx, openPatience)
		isBound = bound(within, js, filesStream, d.IsFull(), s.options.MaxFiles) && bound(within, js, liveStream, d.IsFull(), 0)
		looked = time.Now()
		cancel()
	}
}

// bound has a stream keep no more than it has on a disk that is full, and else so many bytes; 0 is any number. It says
// whether that is so: one that isn't there yet, or has no leader, comes later.
func bound(ctx context.Context, js jetstream.JetStream, name string, isFull bool, most int64) bool {
	if most <= 0 {
		most = -1
	}
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return false
	}
	info := stream.CachedInfo()
	if isOpen := info.Config.MaxBytes == most; isOpen != isFull {
		return true
	}
	if info.Config.MaxBytes = most; isFull {
		info.Config.MaxBytes = max(int64(info.State.Bytes), 1)
	}
	_, err = js.UpdateStream(ctx, info.Config)
	return err == nil
}
