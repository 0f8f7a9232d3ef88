package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"golang.org/x/time/rate"

	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// logRate is how many log messages a client gets in a second.
const logRate = 10

// clientLog is a slog.Handler that shows records of the level info and above in the client's log. Agents' texts don't
// belong into records.
type clientLog struct {
	server  *Server
	attrs   string
	rate    *rate.Limiter
	dropped *atomic.Int64 // since the last one that was sent
}

// newLogger logs to the client and, unless it is nil, to another logger.
func newLogger(also *slog.Logger, s *Server) *slog.Logger {
	client := &clientLog{server: s, rate: rate.NewLimiter(logRate, logRate), dropped: new(atomic.Int64)}
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
	if !l.rate.Allow() {
		l.dropped.Add(1)
		return nil
	}
	var text strings.Builder
	text.WriteString(r.Message + l.attrs)
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(attrText(a))
		return true
	})
	if dropped := l.dropped.Swap(0); dropped > 0 {
		fmt.Fprintf(&text, " (%d messages before this one were too many)", dropped)
	}
	kind := session.MessageInfo
	switch {
	case r.Level >= slog.LevelError:
		kind = session.MessageError
	case r.Level >= slog.LevelWarn:
		kind = session.MessageWarning
	}
	l.server.Notify("window/logMessage", map[string]any{"type": kind, "message": stream.Sanitize(text.String())})
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
