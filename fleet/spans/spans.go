// Package spans tells an OpenTelemetry collector what a worker does: a trace for each loop,
// which is the same on all workers, with a span for each attempt at an iteration.
package spans

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Wanted says whether the environment names a collector, by the variables that all
// programs with OpenTelemetry have. Nothing is sent else.
func Wanted() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Worker tells the spans of a worker.
type Worker struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start makes the spans of a worker. What a collector doesn't take is told once, and
// dropped: nobody waits for it.
func Start(ctx context.Context, name, version string, log *slog.Logger) (*Worker, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "ralph-fleet"), attribute.String("service.version", version), attribute.String("service.instance.id", name)),
		resource.WithFromEnv()) // what the user says there wins
	if err != nil {
		return nil, err
	}
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() {
			log.Warn("the collector doesn't take spans; they are dropped, and this isn't told again", "error", err)
		})
	}))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about), sdk.WithIDGenerator(ids{}))
	return &Worker{provider, provider.Tracer("ralph-lsp/fleet", trace.WithInstrumentationVersion(version))}, nil
}

// stopPatience is how long the last spans may take to be sent.
const stopPatience = 3 * time.Second

// Close sends what is left.
func (w *Worker) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	w.provider.Shutdown(ctx)
}

// Tell tells an attempt that is over, and its loop when that has ended.
func (w *Worker) Tell(a fleet.Attempted) {
	ofLoop := trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceOf(a.ID), SpanID: spanOf(a.ID), TraceFlags: trace.FlagsSampled, Remote: true})
	ctx, span := w.tracer.Start(trace.ContextWithSpanContext(context.Background(), ofLoop), "attempt", trace.WithTimestamp(a.Begun), trace.WithAttributes(
		attribute.String("ralph.loop", a.ID), attribute.Int("ralph.attempt", a.Attempt), attribute.String("ralph.worker", a.Worker),
		attribute.String("ralph.result", string(a.Result)), attribute.Float64("ralph.cost_usd", a.USD)))
	if a.Result == fleet.Failed || a.Result == fleet.Lost {
		span.SetStatus(codes.Error, string(a.Result))
	}
	for _, s := range a.Timings {
		_, part := w.tracer.Start(ctx, string(s.Stage), trace.WithTimestamp(s.Begun))
		if s.IsBad { // the words of the error may be anybody's
			part.SetStatus(codes.Error, "")
		}
		part.End(trace.WithTimestamp(s.Ended))
	}
	span.End()
	if a.Result != fleet.Ends {
		return
	}
	r := a.Left
	_, span = w.tracer.Start(context.WithValue(context.Background(), loopKey{}, r.ID), "loop", trace.WithNewRoot(), trace.WithTimestamp(r.At),
		trace.WithAttributes(attribute.String("ralph.loop", r.ID), attribute.Int("ralph.iterations", r.Iterations), attribute.String("ralph.stop_reason", r.StopReason)))
	span.End(trace.WithTimestamp(r.UpdatedAt))
}

// traceOf and spanOf are the ids of a loop's trace and its outermost span: whoever has the loop knows them.
func traceOf(loop string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte("trace of " + loop))
	copy(id[:], sum[:])
	return id
}

func spanOf(loop string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("span of " + loop))
	copy(id[:], sum[:])
	return id
}

// ids gives a loop's own span its ids, and any other a random one.
type ids struct{}

type loopKey struct{}

// NewIDs implements sdk.IDGenerator.
func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if loop, ok := ctx.Value(loopKey{}).(string); ok {
		return traceOf(loop), spanOf(loop)
	}
	return traceOf(rand.Text()), i.NewSpanID(ctx, trace.TraceID{})
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	rand.Read(id[:]) // it never fails
	return id
}
