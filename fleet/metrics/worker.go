package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Worker has the figures of a worker.
type Worker struct {
	registry *prometheus.Registry
	attempts *prometheus.CounterVec
	ended    *prometheus.CounterVec
	stages   *prometheus.HistogramVec
	losses   prometheus.Counter
	dollars  prometheus.Counter

	mu      sync.Mutex
	reasons map[string]bool
}

// durations are of stages, from a checkout that is there to an iteration of an hour.
var durations = []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600}

// NewWorker makes the figures of a worker with so many slots, of which so many are busy.
func NewWorker(version string, slots int, busy func() int) *Worker {
	w := &Worker{
		registry: newRegistry(version),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "attempts_total",
			Help: "Attempts at an iteration, by what became of them."}, []string{"result"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "loops_ended_total",
			Help: "Loops that ended here, by the reason."}, []string{"reason"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + "step_duration_seconds",
			Help: "How long the parts of an attempt took.", Buckets: durations}, []string{"step"}),
		losses: prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "lease_losses_total",
			Help: "Attempts whose loop another worker had in the end."}),
		dollars: prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "cost_dollars_total",
			Help: "What attempts here have cost, or had reserved where nobody knows."}),
		reasons: map[string]bool{},
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, func() float64 { return float64(value()) })
	}
	w.registry.MustRegister(w.attempts, w.ended, w.stages, w.losses, w.dollars,
		gauge("slots_busy", "Slots that run an attempt.", busy), gauge("slots", "Slots of this worker.", func() int { return slots }))
	for _, result := range fleet.Results { // 0 from the beginning, so that the first one can be seen to come
		w.attempts.WithLabelValues(string(result))
	}
	for _, stage := range fleet.Stages {
		w.stages.WithLabelValues(string(stage))
	}
	return w
}

// Registry has all of them.
func (w *Worker) Registry() prometheus.Gatherer { return w.registry }

// Tell counts an attempt that is over.
func (w *Worker) Tell(a fleet.Attempted) {
	for _, s := range a.Timings {
		w.stages.WithLabelValues(string(s.Stage)).Observe(s.Took.Seconds())
	}
	w.attempts.WithLabelValues(string(a.Result)).Inc()
	w.dollars.Add(max(a.USD, 0))
	if a.Result == fleet.Lost {
		w.losses.Inc()
	}
	if a.Left.Phase == fleet.Ended {
		w.ended.WithLabelValues(w.bounded(a.Left.StopReason)).Inc()
	}
}

// maxReasons bounds how many reasons are told apart: a newer ralph-lsp may have others.
const maxReasons = 40

func (w *Worker) bounded(reason string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.reasons[reason] && len(w.reasons) >= maxReasons {
		return "other"
	}
	w.reasons[reason] = true
	return reason
}
