package spans

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// receiver is a collector that keeps what it is told.
type receiver struct {
	mu    sync.Mutex
	spans []*pb.Span
	raw   string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	data, err := io.ReadAll(request.Body)
	var told collector.ExportTraceServiceRequest
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(data, &told) != nil {
		http.Error(w, "what is that?", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw += string(data)
	for _, resource := range told.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

func (r *receiver) named(name string) (found []*pb.Span) {
	for _, s := range r.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// start makes the spans of a worker that sends them to an address.
func start(t *testing.T, name, url string, log io.Writer) *Worker {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	if !Wanted() {
		t.Fatal("a collector is named, and isn't wanted")
	}
	w, err := Start(t.Context(), name, "1", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestALoopIsOneTraceOverAllWorkers(t *testing.T) {
	var r receiver
	s := httptest.NewServer(&r)
	defer s.Close()
	first, second := start(t, "first", s.URL, io.Discard), start(t, "second", s.URL, io.Discard)
	loop := fleet.Record{Task: fleet.Task{ID: "f1", Name: "a-private-prompt", At: time.Now().Add(-time.Hour)}, Phase: fleet.Running, Attempt: 1}
	first.Tell(fleet.Attempted{Record: loop, Begun: time.Now(), Result: fleet.Failed, Left: loop, Timings: []fleet.Timing{{Stage: fleet.StageCheckout}, {Stage: fleet.StageSetup, IsBad: true}}})
	loop.Attempt = 2
	left := loop
	left.Phase, left.StopReason, left.UpdatedAt = fleet.Ended, "promise", time.Now()
	second.Tell(fleet.Attempted{Record: loop, Begun: time.Now(), Result: fleet.Ends, Left: left, USD: 1.5, Timings: []fleet.Timing{{Stage: fleet.StageIteration}}})
	first.Close()
	second.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	root, attempts := r.named("loop"), r.named("attempt")
	if len(root) != 1 || len(attempts) != 2 || len(r.spans) != 6 {
		t.Fatalf("%d spans of loops, %d of attempts, %d in all", len(root), len(attempts), len(r.spans))
	}
	if len(root[0].ParentSpanId) != 0 || time.Duration(root[0].EndTimeUnixNano-root[0].StartTimeUnixNano) < time.Hour {
		t.Errorf("the loop's span is %v", root[0])
	}
	if !strings.Contains(fmt.Sprint(root[0].Attributes), "promise") {
		t.Errorf("the loop's span doesn't say how it ended: %v", root[0].Attributes)
	}
	for _, span := range r.spans {
		if string(span.TraceId) != string(root[0].TraceId) {
			t.Errorf("%s is in trace %s", span.Name, hex.EncodeToString(span.TraceId))
		}
	}
	for i, of := range [][]string{{"checkout", "setup"}, {"iteration"}} {
		if string(attempts[i].ParentSpanId) != string(root[0].SpanId) {
			t.Errorf("attempt %d isn't below the loop", i)
		}
		if attempts[i].Flags&uint32(pb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) == 0 {
			t.Errorf("attempt %d is below a span of its own process, which may be another worker's", i)
		}
		for _, name := range of {
			if step := r.named(name)[0]; string(step.ParentSpanId) != string(attempts[i].SpanId) {
				t.Errorf("%s isn't below its attempt", name)
			}
		}
	}
	if r.named("setup")[0].Status.GetCode() != pb.Status_STATUS_CODE_ERROR || attempts[0].Status.GetCode() != pb.Status_STATUS_CODE_ERROR || attempts[1].Status.GetCode() == pb.Status_STATUS_CODE_ERROR {
		t.Error("what failed isn't marked so, or what didn't is")
	}
	if strings.Contains(r.raw, "private") {
		t.Error("a span has words of a user's")
	}
}

func TestACollectorThatIsAwaySlowsNothingAndIsToldOfOnce(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	hangs, gone := s.URL, httptest.NewServer(nil)
	gone.Close()
	for _, url := range []string{hangs, strings.Replace(gone.URL, "http://", "http://ann:hunter2@", 1)} {
		t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
		t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
		var log safe
		w := start(t, "w", url, &log)
		for range 10_000 { // more than fit into a queue: nobody waits
			w.Tell(fleet.Attempted{Record: fleet.Record{Task: fleet.Task{ID: "f1"}}, Result: fleet.GoesOn})
		}
		closed := make(chan struct{})
		go func() { w.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("the end waits for the collector")
		}
		if n := strings.Count(log.String(), "doesn't take spans"); n > 1 {
			t.Errorf("told %d times\n%s", n, log.String())
		}
	}
}

// safe is a log that may be written while it is read.
type safe struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *safe) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestNothingIsSentUnlessACollectorIsNamed(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_SDK_DISABLED": "true"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"} {
			t.Setenv(name, tt.env[name])
		}
		if Wanted() != tt.want {
			t.Errorf("%v: %v", tt.env, !tt.want)
		}
	}
	if a, b := (ids{}).NewSpanID(context.Background(), [16]byte{}), (ids{}).NewSpanID(context.Background(), [16]byte{}); a == b || !a.IsValid() {
		t.Error("spans have one id")
	}
}
