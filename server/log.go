package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// logRate is how many log messages a client gets in a second.
const logRate = 10

// clientLog is a slog.Handler that shows records of the level info and above
// in the client's log. What agents say doesn't belong into records.
type clientLog struct {
	server *Server
	attrs  string
	rate   *rate
}

// rate bounds how many messages are sent in any second.
type rate struct {
	mu      sync.Mutex
	sent    [logRate]time.Time // when the last ones were, a ring
	oldest  int                // in sent
	dropped int                // since the last one
}

// allow says whether one more message may be sent now, and how many couldn't
// since the last one.
func (r *rate) allow(now time.Time) (dropped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.sent[r.oldest]) < time.Second {
		r.dropped++
		return 0, false
	}
	r.sent[r.oldest] = now
	r.oldest = (r.oldest + 1) % logRate
	dropped, r.dropped = r.dropped, 0
	return dropped, true
}

// newLogger logs to the client and, unless it is nil, to another logger.
func newLogger(also *slog.Logger, s *Server) *slog.Logger {
	client := &clientLog{server: s, rate: new(rate)}
	if also == nil {
		return slog.New(client)
	}
	return slog.New(slog.NewMultiHandler(also.Handler(), client))
}

// Enabled is false before the client may get messages.
func (l *clientLog) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && phase(l.server.phase.Load()) == initialized
}

// Handle sends the record.
func (l *clientLog) Handle(_ context.Context, r slog.Record) error {
	dropped, ok := l.rate.allow(time.Now())
	if !ok {
		return nil
	}
	var text strings.Builder
	text.WriteString(r.Message + l.attrs)
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(attrText(a))
		return true
	})
	if dropped > 0 {
		fmt.Fprintf(&text, " (%d messages before this one were too many)", dropped)
	}
	kind := session.MessageInfo
	switch {
	case r.Level >= slog.LevelError:
		kind = session.MessageError
	case r.Level >= slog.LevelWarn:
		kind = session.MessageWarning
	}
	l.server.Notify("window/logMessage", map[string]any{"type": kind, "message": stream.Plain(text.String())})
	return nil
}

func attrText(a slog.Attr) string {
	if a.Key == rpc.StackKey { // too long for a client
		return ""
	}
	return fmt.Sprintf(" %s=%v", a.Key, a.Value)
}

// WithAttrs returns a handler that adds attrs to every record.
func (l *clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *l
	for _, a := range attrs {
		more.attrs += attrText(a)
	}
	return &more
}

// WithGroup returns the handler itself: the client's log is flat.
func (l *clientLog) WithGroup(string) slog.Handler { return l }
