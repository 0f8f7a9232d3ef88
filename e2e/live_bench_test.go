//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"ralph-lsp/internal/agents"
	"ralph-lsp/internal/fakemodel"
)

// BenchmarkLive compares runs of agents that can be talked to with those that can't be, by turns:
// from the start to the first request of the model, and to the exit.
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
			run := func(flag string) (asked, exited float64) {
				before := len(model.MainRequests())
				argv := []string{"run", flag, "--backend", a.backend, "--output", "quiet", "--max-iterations", "1", "--completion-promise", "DONE"}
				for _, arg := range a.args {
					argv = append(argv, "--backend-arg", arg)
				}
				begin := time.Now()
				if out, err := box.Command(context.Background(), ralph, append(argv, prompt)...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				return model.MainRequests()[before].Time.Sub(begin).Seconds(), time.Since(begin).Seconds()
			}
			for b.Loop() {
				var seconds [2][2][]float64 // without and with, to the request and to the exit
				for range rounds {
					for i, flag := range []string{"--no-live", "--live"} {
						asked, exited := run(flag)
						seconds[i][0], seconds[i][1] = append(seconds[i][0], asked), append(seconds[i][1], exited)
					}
				}
				b.ReportMetric(median(seconds[1][0])/median(seconds[0][0]), "x-request")
				b.ReportMetric(median(seconds[1][1])/median(seconds[0][1]), "x-exit")
				b.ReportMetric(median(seconds[1][0]), "s-request")
				b.ReportMetric(median(seconds[1][1]), "s-exit")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
