// Package fakemodel is a scripted stand-in for a language model's HTTP API, so
// that real coding agents run in tests without a network, an account or a key.
//
// It speaks as much of the Anthropic Messages API as the agents use. README.md
// describes the script.
package fakemodel

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server answers model requests by a script. All methods are safe for
// concurrent use.
type Server struct {
	// URL is the base URL, such as "http://127.0.0.1:40123".
	URL string

	script Script
	http   *http.Server
	done   chan struct{} // closed when the listener is gone

	mu       sync.Mutex
	used     []int         // uses of each turn; guarded by mu
	requests []Request     // in order of arrival; guarded by mu
	changed  chan struct{} // closed and replaced at each change; guarded by mu
}

// Start starts a server for script on a free loopback port.
func Start(script Script) (*Server, error) {
	if err := script.validate(); err != nil {
		return nil, fmt.Errorf("checking the script: %w", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the fake model: %w", err)
	}
	s := &Server{
		URL:     "http://" + ln.Addr().String(),
		script:  script,
		done:    make(chan struct{}),
		used:    make([]int, len(script.Turns)),
		changed: make(chan struct{}),
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.done)
		s.http.Serve(ln) // always ends with an error: Close's
	}()
	return s, nil
}

// New starts a server for the length of a test.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Close ends the server and cuts its connections.
func (s *Server) Close() {
	s.http.Close()
	<-s.done
}

// Requests returns what was asked so far, in order of arrival. A request that
// is still being answered has no Outcome yet.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// MainRequests returns the requests of the agents' main conversations.
func (s *Server) MainRequests() []Request {
	var out []Request
	for _, r := range s.Requests() {
		if r.Kind == KindMain {
			out = append(out, r)
		}
	}
	return out
}

// Wait waits until ok holds for the requests so far. The error is ctx's.
func (s *Server) Wait(ctx context.Context, ok func([]Request) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok(s.Requests()) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a model request: %w", ctx.Err())
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away in mid-request: there is nothing to answer
	}
	q := Request{Time: time.Now(), Path: r.URL.RequestURI(), Kind: KindOther, Body: body, Turn: TurnDefault}
	out := &responseWriter{w}
	var answer func() string
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		answer = func() string { return out.json(http.StatusOK, map[string]any{"input_tokens": len(body)/4 + 1}) }
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages"):
		q.parse()
		turn := s.pick(&q)
		answer = func() string { return s.play(r.Context(), out, turn, q) }
	default:
		answer = func() string { return s.answerOther(out, r.Method, path) }
	}
	i := s.begin(&q)
	defer func() {
		if p := recover(); p != nil {
			q.Outcome = fmt.Sprint("panic: ", p)
		}
		s.end(i, q)
	}()
	q.Outcome = answer()
}

// answerOther serves what is no model request.
func (s *Server) answerOther(w *responseWriter, method, path string) string {
	switch {
	case method == http.MethodGet && strings.HasSuffix(path, "/models"):
		return w.json(http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": "fake-model", "type": "model", "object": "model", "display_name": "Fake"}}})
	case method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
		return outcomeOK
	}
	// Telemetry, settings and the like are refused politely.
	return w.json(http.StatusNotFound, anthropicError("not_found_error", "fakemodel: no such endpoint"))
}

// begin notes a request and returns its index.
func (s *Server) begin(q *Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.Seq = len(s.requests) + 1
	s.requests = append(s.requests, *q)
	s.wake()
	return q.Seq - 1
}

func (s *Server) end(i int, q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[i] = q
	s.wake()
}

// wake tells those who Wait that something changed. The caller holds mu.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// pick finds the turn for a model request and marks it used.
func (s *Server) pick(q *Request) Turn {
	q.Kind = KindMain
	if len(q.Tools) == 0 {
		q.Kind = KindHelper
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.script.Turns {
		if limit := max(t.Repeat, 1); t.Repeat >= 0 && s.used[i] >= limit || !t.fits(q) {
			continue
		}
		s.used[i]++
		q.Turn = i
		return t
	}
	switch {
	case q.Kind == KindHelper:
		return Turn{Text: `{"title":"Fake title","isNewTopic":false}`}
	case s.script.Default == nil:
		return Turn{Text: "OK"}
	}
	return *s.script.Default
}

// fits says whether the turn is for a request.
func (t Turn) fits(q *Request) bool {
	audience := cmp.Or(t.For, string(KindMain))
	return (audience == "any" || audience == string(q.Kind)) &&
		strings.Contains(q.LastUser, t.Match) && strings.Contains(q.System, t.System)
}
