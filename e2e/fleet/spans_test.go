//go:build e2e

package fleet

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is what a collector has heard of all workers: a line for each span, below its
// trace and its parent.
type collected struct {
	mu    sync.Mutex
	spans []span
}

type span struct{ worker, trace, id, parent, name string }

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var told collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(data, &told) != nil {
		http.Error(w, "what is that?", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range told.ResourceSpans {
		worker := ""
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.instance.id" {
				worker = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, span{worker, fmt.Sprintf("%x", s.TraceId), fmt.Sprintf("%x", s.SpanId), fmt.Sprintf("%x", s.ParentSpanId), s.Name})
			}
		}
	}
}

// named are the spans of that name, of any worker.
func (c *collected) named(name string) (found []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.name == name {
			found = append(found, s)
		}
	}
	return found
}

// A loop is one trace, though one worker begins it and another one ends it.
func TestALoopIsOneTraceOverTwoWorkers(t *testing.T) {
	var heard collected
	at := httptest.NewServer(&heard)
	t.Cleanup(at.Close)
	w := newWorld(t)
	w.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at.URL, "OTEL_BSP_SCHEDULE_DELAY=100"}
	first := w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=3 hang=2")
	w.until("iteration 2", w.hasDone("hung one 2"))
	w.until("what is told of iteration 1", func() bool { return len(heard.named("commit")) == 1 })
	first.Process.Signal(syscall.SIGTERM) // it gives the loop back
	first.Wait()
	w.worker("second", 1, w.addr, long)
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 3 || end.Host != "second" {
		t.Errorf("ended as %+v", end)
	}
	w.until("the span of the loop", func() bool { return len(heard.named("loop")) == 1 })
	of := func(worker string) (n int) {
		for _, a := range heard.named("attempt") {
			if a.worker == worker {
				n++
			}
		}
		return n
	}
	w.until("the spans of its attempts", func() bool { return of("first") > 0 && of("second") == 2 }) // the one that was given back may be lost with its worker
	loop := heard.named("loop")[0]
	for _, a := range heard.named("attempt") {
		if a.trace != loop.trace || a.parent != loop.id {
			t.Errorf("an attempt is %+v, and the loop %+v", a, loop)
		}
	}
	if loop.worker != "second" || strings.Trim(loop.parent, "0") != "" {
		t.Errorf("the loop is %+v", loop)
	}
	for _, step := range []string{"checkout", "iteration", "upload", "commit"} {
		for _, s := range heard.named(step) {
			if s.trace != loop.trace || !slices.ContainsFunc(heard.named("attempt"), func(a span) bool { return a.id == s.parent && a.worker == s.worker }) {
				t.Errorf("%+v is no part of an attempt", s)
			}
		}
	}
	if n := len(heard.named("checkout")); n != 2 {
		t.Errorf("%d checkouts were told, one is each worker's", n)
	}
}
