package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// manyLoops are loops that have ended, each later than the one before.
func manyLoops(n int) (all []fleet.Record) {
	start := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		r := fleet.Record{Task: fleet.Task{ID: fmt.Sprintf("f%d", i), Name: fmt.Sprintf("loop-%d", i)}, Phase: fleet.Ended, StopReason: "promise", CostUSD: 0.5}
		r.UpdatedAt = start.Add(time.Duration(i) * time.Second)
		all = append(all, r)
	}
	return all
}

func TestATableOfManyLoops(t *testing.T) {
	all := manyLoops(1000)
	all[300].Phase, all[400].Phase, all[400].Attempt = fleet.Running, fleet.Running, 1
	all[500].StopReason = "worker_failures"
	shown := map[string]fleet.Shown{"f400": {ID: "f400", Attempt: 1, Status: []byte(`{"questions":[{"questionId":"q1"}]}`)}}
	var table strings.Builder
	if err := printTable(&table, all, shown, ledger.Ledger{}, time.Now(), 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	if len(lines) != maxRows+2 {
		t.Fatalf("%d lines, of %d rows and two", len(lines), maxRows)
	}
	for i, want := range []string{"f400 ", "f500 ", "f300 ", "f999 ", "f998 "} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("row %d is %q, want %s", i, lines[i], want)
		}
	}
	if end := strings.Join(lines[maxRows:], "\n"); !strings.HasPrefix(end, "and 800 more: name some") || !strings.Contains(end, "2 running, 998 ended · $500") {
		t.Errorf("it ends with %q", end)
	}
	var objects strings.Builder
	if err := printJSON(&objects, all, shown, nil); err != nil || strings.Count(objects.String(), "\n") != len(all) {
		t.Errorf("%d objects of %d loops, %v", strings.Count(objects.String(), "\n"), len(all), err)
	}
	if strings.Contains(objects.String(), `"folder":`) {
		t.Errorf("it names a folder: %s", objects.String())
	}
	table.Reset()
	if err := printTable(&table, all[:maxRows], nil, ledger.Ledger{}, time.Now(), 0); err != nil || strings.Contains(table.String(), "more") || !strings.HasPrefix(table.String(), "f0 ") {
		t.Errorf("of few, in their order: %s, %v", table.String(), err)
	}
}

// With 100,000 loops on the bus, a status was busy for 10 s with what loops ask that run nowhere.
func TestLoopsThatAskNothingCostAStatusNothing(t *testing.T) {
	all := make([]fleet.Record, 1000)
	for i := range all {
		all[i] = fleet.Record{Phase: fleet.Queued, Task: fleet.Task{ID: fmt.Sprint("f", i), Flags: []string{"--max-iterations=5"}}}
	}
	if n := testing.AllocsPerRun(1, func() { printAsking(io.Discard, all, nil, "") }); n > 10 {
		t.Errorf("%v allocations for %d loops", n, len(all))
	}
}
