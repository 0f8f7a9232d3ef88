package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// Options are what the command line tells the server.
type Options struct {
	Version string       // of this program
	Log     *slog.Logger // nil logs to the client only
	Parent  int          // the process whose death ends the server; 0: the one that initialize names

	// Returns is how long a loop goes on whose editor is gone, in which that may be back; 0: it ends at once.
	Returns time.Duration

	Remote service.Remote // that has loops of other machines; nil: none
}

// How long the end of the server may take: PROTOCOL.md promises a second.
const (
	stopPatience = 800 * time.Millisecond // for the loops to end
	endPatience  = 900 * time.Millisecond // for the client to have read the rest, too
)

// Server serves one editor. It is the editor for the rest of the room.
type Server struct {
	*rpc.Conn
	log     *slog.Logger
	version string
	parent  int

	// ctx ends when the editor goes away; leave says how.
	ctx   context.Context
	leave context.CancelCauseFunc

	phase     atomic.Int32 // a phase; only the read loop changes it
	folders   []string     // paths that initialize told
	client    atomic.Pointer[client.Info]
	manager   *manager
	docs      *documents.Documents
	stopLoops func() // interrupts all loops and waits; any number of calls
}

// Run serves one editor until it goes away, in whichever way, and returns the
// process's exit code: 0 after shutdown, else 1. It returns at most a second
// after the editor went away; by then all loops are interrupted. The end of ctx
// counts as the editor's end.
func Run(ctx context.Context, in io.Reader, out io.Writer, opts Options) int {
	s := newServer(ctx, in, opts)
	s.Serve(out)
	<-s.ctx.Done()
	return s.finish()
}

func newServer(ctx context.Context, in io.Reader, opts Options) *Server {
	s := &Server{version: opts.Version, parent: opts.Parent}
	s.ctx, s.leave = context.WithCancelCause(ctx)
	s.log = newLogger(opts.Log, s)
	s.manager = newManager(s, opts, s.log)
	s.docs = documents.New(s, s.manager.view())
	s.manager.Docs = s.docs
	s.stopLoops = sync.OnceFunc(s.manager.launcher.close)
	s.Conn = rpc.New(s.ctx, in, rpc.Options{Methods: s.methods(), Admit: s.admit, Listens: s.listens, Ended: s.leave, Log: s.log})
	return s
}

// Client is what the client told of itself.
func (s *Server) Client() client.Info {
	if info := s.client.Load(); info != nil {
		return *info
	}
	return client.Info{}
}

// finish ends what runs, tells the client of it if it still reads, and returns
// the exit code.
func (s *Server) finish() int {
	cause := context.Cause(s.ctx)
	unreadable := errors.Is(cause, rpc.ErrBadHeader)
	if unreadable {
		s.log.Error("the connection ends", "reason", cause)
	} else {
		s.log.Info("the connection ends", "reason", cause)
	}
	end := time.Now().Add(endPatience)
	within(stopPatience, func(context.Context) { s.stopLoops() })
	within(time.Until(end), s.Close)
	if phase(s.phase.Load()) == shutDown && !unreadable {
		return 0
	}
	return 1
}

// within runs f and returns when it is done or the time is up.
func within(limit time.Duration, f func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	done := make(chan struct{})
	go func() {
		defer cancel()
		defer close(done)
		f(ctx)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// errExit and the others are why the editor is gone, where nothing else says so.
var (
	errExit       = errors.New("the client said exit")
	errNoExit     = errors.New("the client said shutdown, but no exit")
	errParentGone = errors.New("the client's process is gone")
)

// watchParent ends the server when the client's process is gone. Only an ancestor
// of ours is watched: a client on another machine names a process that here is
// nobody, or a stranger.
func (s *Server) watchParent(pid int) {
	start, err := loopstate.ProcessStart(pid)
	if err != nil || !isAncestor(pid) {
		return
	}
	ticks := time.NewTicker(parentPoll)
	defer ticks.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticks.C:
			if now, err := loopstate.ProcessStart(pid); err != nil || now != start {
				s.leave(fmt.Errorf("%w (%d)", errParentGone, pid))
				return
			}
		}
	}
}

// isAncestor says whether this process descends from one.
func isAncestor(pid int) bool {
	const deepest = 1000 // systems that reuse ids may have circles
	for at, depth := os.Getppid(), 0; at > 0 && depth < deepest; at, depth = reaper.Parent(at), depth+1 {
		if at == pid {
			return true
		}
	}
	return false
}

// parentPoll is how often the client's process is looked for.
var parentPoll = 2 * time.Second
