//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// BenchmarkLive compares runs of agents that can be talked to with those that can't be, by turns:
// from the start to the first request of the model, and to the exit; and by processor time, which
// other work on the machine hardly changes.
func BenchmarkLive(b *testing.B) {
	const rounds = 20
	median := func(all []float64) float64 {
		slices.Sort(all)
		return all[len(all)/2]
	}
	for _, a := range both {
		b.Run(a.name, func(b *testing.B) {
			model := fakemodel.New(b, fakemodel.Script{Default: &fakemodel.Turn{Text: "<promise>DONE</promise>"}})
			box := agents.NewSandbox(b, installed, model.URL, a.pin)
			run := func(flag string) (seconds [3]float64) {
				before := len(model.MainRequests())
				argv := []string{"run", flag, "--backend", a.backend, "--output", "quiet", "--max-iterations", "1", "--completion-promise", "DONE"}
				for _, arg := range a.args {
					argv = append(argv, "--backend-arg", arg)
				}
				begin := time.Now()
				cmd := box.Command(context.Background(), ralph, append(argv, prompt)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				exited, used := time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
				return [3]float64{model.MainRequests()[before].Time.Sub(begin).Seconds(), exited.Seconds(), used.Seconds()}
			}
			for b.Loop() {
				var seconds [2][3][]float64 // without and with
				for round := range rounds {
					for turn := range 2 {
						i := (round + turn) % 2 // each is the first as often
						for k, took := range run([]string{"--no-live", "--live"}[i]) {
							seconds[i][k] = append(seconds[i][k], took)
						}
					}
				}
				for k, what := range []string{"request", "exit", "processor"} {
					b.ReportMetric(median(seconds[1][k])/median(seconds[0][k]), "x-"+what)
					b.ReportMetric(slices.Min(seconds[1][k])/slices.Min(seconds[0][k]), "x-min-"+what)
					b.ReportMetric(median(seconds[1][k]), "s-"+what)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
