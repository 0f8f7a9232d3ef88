package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// responseWriter can cut the connection.
type responseWriter struct{ http.ResponseWriter }

func (w *responseWriter) Flush() { http.NewResponseController(w.ResponseWriter).Flush() }

// writeNow writes s and sends it off. That the client is gone shows in the
// request's context.
func (w *responseWriter) writeNow(s string) {
	io.WriteString(w, s)
	w.Flush()
}

// sse sends one server-sent event; name is empty for an unnamed one.
func (w *responseWriter) sse(name string, data any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprint(w, "data: ")
	json.NewEncoder(w).Encode(data) // ends with the first of the two newlines
	w.writeNow("\n")
}

// json sends a whole JSON answer and returns its outcome.
func (w *responseWriter) json(status int, v any) string {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
	if status == http.StatusOK {
		return outcomeOK
	}
	return fmt.Sprint("http ", status)
}

// drop resets the TCP connection.
func (w *responseWriter) drop() string {
	conn, _, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return "drop failed: " + err.Error()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
	return "dropped"
}
