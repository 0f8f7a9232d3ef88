package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// bus is one with a few loops.
type bus struct {
	fleet.Bus
	loops []fleet.Record
	gone  fleet.Record
	away  bool
	told  chan struct{}
}

func (b *bus) err() error {
	if b.away {
		return errors.New("the bus is away")
	}
	return nil
}
func (b *bus) Workers(context.Context) ([]fleet.Presence, error) {
	return []fleet.Presence{{Slots: 3}, {Slots: 4}}, b.err()
}
func (b *bus) Ledger(context.Context, string) (ledger.Ledger, uint64, error) {
	return ledger.Ledger{Limits: ledger.Limits{MaxUSD: 9}, Spent: 2.5, Held: map[string]time.Time{"a": time.Now().Add(time.Hour), "b": time.Now().Add(-time.Hour)}}, 1, b.err()
}
func (b *bus) Depths(context.Context) (map[fleet.Priority]int, error) {
	return map[fleet.Priority]int{fleet.High: 2}, b.err()
}
func (b *bus) Used(context.Context) (uint64, error) { return 4096, b.err() }
func (b *bus) Watch(ctx context.Context, _ string) (<-chan fleet.Record, error) {
	to := make(chan fleet.Record)
	go func() {
		defer close(to)
		for _, r := range append(b.loops, fleet.Record{}, b.gone, b.gone) { // what was counted when the last one comes
			to <- r
		}
		close(b.told)
		<-ctx.Done()
	}()
	return to, nil
}

// figures are those of our own, without what Go tells.
func figures(t *testing.T, from prometheus.Gatherer) string {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), prefix) {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			fmt.Fprintf(&lines, "%s %s %v %v %d\n", strings.TrimPrefix(f.GetName(), prefix), strings.Join(labels, ","), m.GetGauge().GetValue(), m.GetCounter().GetValue(), m.GetHistogram().GetSampleCount())
		}
	}
	return lines.String()
}

func TestFiguresOfABus(t *testing.T) {
	loop := func(id string, p fleet.Phase) fleet.Record { return fleet.Record{Task: fleet.Task{ID: id}, Phase: p} }
	b := &bus{told: make(chan struct{}), gone: loop("d", fleet.Removed), loops: []fleet.Record{
		loop("a", fleet.Running), loop("a", fleet.Queued), loop("b", fleet.Queued), loop("c", fleet.Running), loop("d", fleet.Running),
	}}
	m := NewBus(t.Context(), "1", b)
	<-b.told
	all := figures(t, m.Registry())
	for _, want := range []string{"loops queued 2 ", "loops running 1 ", "loops paused 0 ", "loops ended 0 ", "queue_loops high 2 ", "budget_spent_dollars  2.5 ", "budget_limit_dollars  9 ", "keys_held  1 ", "store_bytes  4096 ", "workers  2 ", "workers_slots  7 ", "info 1 1 "} {
		if !strings.Contains("\n"+all, "\n"+want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	b.away = true
	if all := figures(t, m.Registry()); !strings.Contains(all, "loops queued 2 ") || strings.Contains(all, "workers") {
		t.Errorf("while the bus is away: %s", all)
	}
	lint(t, m.Registry())
}

func TestFiguresOfAWorker(t *testing.T) {
	m := NewWorker("1", 4, func() int { return 1 })
	ends := func(reason string, usd float64, timings ...fleet.Timing) {
		m.Tell(fleet.Attempted{Result: fleet.Ends, Left: fleet.Record{Phase: fleet.Ended, StopReason: reason}, USD: usd, Timings: timings})
	}
	ends("promise", 1.5, fleet.Timing{Stage: fleet.StageCheckout})
	for i := range 100 {
		ends(fmt.Sprint("reason-", i), 0)
	}
	ends("promise", 0) // one that is known stays so
	m.Tell(fleet.Attempted{Result: fleet.Lost, USD: -3})
	all := figures(t, m.Registry())
	for _, want := range []string{"slots  4 ", "slots_busy  1 ", "attempts_total ended 0 102 ", "attempts_total failed 0 0 ", "attempts_total lost 0 1 ", "lease_losses_total  0 1 ", "cost_dollars_total  0 1.5 ",
		"loops_ended_total promise 0 2 ", "loops_ended_total other 0 61 ", "step_duration_seconds checkout 0 0 1\n", "step_duration_seconds setup 0 0 0\n"} {
		if !strings.Contains("\n"+all, "\n"+want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	lint(t, m.Registry())
}

// lint holds the figures to Prometheus' own conventions.
func lint(t *testing.T, from prometheus.Gatherer) {
	t.Helper()
	problems, err := testutil.GatherAndLint(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, prefix) {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestMetricsAreServedOnLoopback(t *testing.T) {
	var log strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var unwell error
	if err := Serve(ctx, ":0", NewWorker("1", 1, func() int { return 0 }).Registry(), func(context.Context) error { return unwell }, nil, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`).FindString(log.String())
	answer, err := http.Get(url)
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), "\nralph_fleet_slots 1\n") || !strings.Contains(string(text), "\ngo_goroutines ") {
		t.Errorf("%v: %s", err, text)
	}
	for want, problem := range map[string]error{"200 ok\n": nil, "503 nothing is taken\n": errors.New("nothing is taken")} {
		unwell = problem
		answer, err := http.Get(strings.Replace(url, "/metrics", "/healthz", 1))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if got := fmt.Sprintf("%d %s", answer.StatusCode, text); got != want {
			t.Errorf("it says %q, not %q", got, want)
		}
	}
	if err := Serve(ctx, "9464", nil, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "127.0.0.1:9464") {
		t.Errorf("an address without a port: %v", err)
	}
}
