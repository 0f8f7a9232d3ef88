// Package metrics makes figures for Prometheus of what a fleet does. Their labels have few
// values: never a loop, and never what an agent says.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// prefix of all figures of our own.
const prefix = "ralph_fleet_"

// newRegistry has what each program tells of itself.
func newRegistry(version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + "info", Help: "1, with the version of the program."},
		[]string{"version"})
	info.WithLabelValues(version).Set(1)
	r.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Serve serves what a registry has at http://ADDRESS/metrics, at /healthz whether all is well, and what more has at its
// paths, until ctx is done. An address without a host is on loopback: who wants more says so.
func Serve(ctx context.Context, address string, from prometheus.Gatherer, well func(context.Context) error,
	more map[string]http.HandlerFunc, log *slog.Logger) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--metrics %s: %w: say it as 127.0.0.1:9464", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("--metrics %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		within, cancel := context.WithTimeout(r.Context(), scrapePatience)
		defer cancel()
		if err := well(within); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	for path, answer := range more {
		mux.HandleFunc("GET "+path, answer)
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("no metrics any more", "error", err)
		}
	}()
	context.AfterFunc(ctx, func() { s.Close() })
	log.Info("metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return nil
}
