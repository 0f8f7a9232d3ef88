package natsbus

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// patience bounds what a test waits for; only a hang reaches it.
const patience = proctest.Patience

// newBus is a bus that this test serves.
func newBus(t *testing.T) *Bus {
	t.Helper()
	served, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	bus, err := Dial(t.Context(), Options{URL: served.URL(), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return bus
}

// message is one of those in testdata/before.jsonl: all that commit bada469 published when its worker
// ran loop one (killed in its second iteration, that was told something), three (done) and limited
// (refused by its provider), and its user paused and cancelled two, and set limits.
type message struct {
	Subject string
	Header  map[string]string
	Text    string
	Data    []byte
}

func ofBefore(t *testing.T) (all []message) {
	t.Helper()
	data, err := os.ReadFile("testdata/before.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Data == nil {
			m.Data = []byte(m.Text)
		}
		all = append(all, m)
	}
	return all
}

// recordOfBefore and ledgerOfBefore are what the workers of commit bada469 read and write. They stay as they are.
type recordOfBefore struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Repo       string            `json:"repo"`
	Bundled    bool              `json:"bundled,omitempty"`
	Base       string            `json:"base"`
	Flags      []string          `json:"flags,omitempty"`
	Setup      []string          `json:"setup,omitempty"`
	Trust      bool              `json:"trust,omitempty"`
	Priority   string            `json:"priority"`
	Labels     map[string]string `json:"labels,omitempty"`
	Key        string            `json:"key"`
	Reserve    float64           `json:"reserve,omitempty"`
	At         time.Time         `json:"at"`
	Phase      string            `json:"phase"`
	Wish       string            `json:"wish,omitempty"`
	Attempt    int               `json:"attempt"`
	Worker     string            `json:"worker,omitempty"`
	Committed  int               `json:"committed"`
	HasState   bool              `json:"hasState,omitempty"`
	Kept       []int             `json:"kept,omitempty"`
	Iterations int               `json:"iterations"`
	CostUSD    float64           `json:"costUsd,omitempty"`
	CostOpen   bool              `json:"costOpen,omitempty"`
	ResumeAt   time.Time         `json:"resumeAt,omitzero"`
	Reason     string            `json:"reason,omitempty"`
	Guidance   []string          `json:"guidance,omitempty"`
	Told       int               `json:"told,omitempty"`
	StopReason string            `json:"stopReason,omitempty"`
	Text       string            `json:"text,omitempty"`
	Failures   int               `json:"failures,omitempty"`
	UpdatedAt  time.Time         `json:"updatedAt"`
}

type (
	ledgerOfBefore struct {
		Limits  limitsOfBefore                 `json:"limits"`
		Spent   float64                        `json:"spent"`
		Running map[string]reservationOfBefore `json:"running"`
		Held    map[string]time.Time           `json:"held,omitempty"`
		Begun   []minuteOfBefore               `json:"begun,omitempty"`
	}
	limitsOfBefore struct {
		MaxUSD  float64        `json:"maxUsd,omitempty"`
		PerHour int            `json:"perHour,omitempty"`
		AtOnce  map[string]int `json:"atOnce,omitempty"`
	}
	reservationOfBefore struct {
		Attempt int     `json:"attempt"`
		Key     string  `json:"key"`
		USD     float64 `json:"usd,omitempty"`
	}
	minuteOfBefore struct {
		At int64 `json:"at"`
		N  int   `json:"n"`
	}
)

// asBefore is what a record of today should be to a worker of before.
func asBefore(r fleet.Record) recordOfBefore {
	return recordOfBefore{
		r.ID, r.Name, r.Repo, r.Bundled, r.Base, r.Flags, r.Setup, r.Trust, string(r.Priority), r.Labels, r.Key, r.Reserve, r.At,
		string(r.Phase), string(r.Wish), r.Attempt, r.Worker, r.Committed, r.HasState, r.Kept, r.Iterations, r.CostUSD, r.CostOpen, r.ResumeAt, r.Reason,
		r.Guidance, r.Told, r.StopReason, r.Text, r.Failures, r.UpdatedAt,
	}
}

// ledgerAsBefore is the same for the ledger.
func ledgerAsBefore(l ledger.Ledger) ledgerOfBefore {
	was := ledgerOfBefore{Limits: limitsOfBefore{l.Limits.MaxUSD, l.Limits.PerHour, l.Limits.AtOnce}, Spent: l.Spent, Held: l.Held, Running: map[string]reservationOfBefore{}}
	for id, r := range l.Running {
		was.Running[id] = reservationOfBefore{r.Attempt, r.Key, r.USD}
	}
	for _, m := range l.Begun {
		was.Begun = append(was.Begun, minuteOfBefore{m.At, m.N})
	}
	return was
}

// agrees fails when a value is something else to a worker of before.
func agrees(t *testing.T, subject string, data []byte) {
	t.Helper()
	var now, before any
	switch {
	case strings.HasPrefix(subject, "$KV."+loopBucket+"."):
		var r fleet.Record
		var was recordOfBefore
		readBoth(t, data, &r, &was)
		now, before = asBefore(r), was
	case strings.HasPrefix(subject, "$KV."+sumBucket+"."):
		var l ledger.Ledger
		var was ledgerOfBefore
		readBoth(t, data, &l, &was)
		now, before = ledgerAsBefore(l), was
	default:
		return
	}
	if diff := cmp.Diff(now, before, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s is to the worker of today (-) and to that of before (+):\n%s", subject, diff)
	}
}

func readBoth(t *testing.T, data []byte, now, before any) {
	t.Helper()
	for _, as := range []any{now, before} {
		if err := fleet.Decode(data, as); err != nil {
			t.Fatalf("%T can't read %s: %v", as, data, err)
		}
	}
}

// standIn is a ralph-lsp that ends a loop in its next run, and says what it found.
const standIn = `#!/bin/sh
[ "$1" = run ] || exit 0
said="$*"
while [ $# -gt 0 ]; do [ "$1" = -C ] && cd "$2"; shift; done
echo "$said: count $(cat count), $(grep -h -o -e '^iteration: [0-9]*' -e 'mind the gap' .pi/ralph-loop.local.md | tr '\n' ' ')" >>"$RALPH_TEST_LOG"
rm -f .pi/ralph-loop.local.md
echo '{"sessionUpdate":"_ralph/end","stopReason":"promise","iterations":2,"costUsd":1,"text":"done"}'
`

// What a worker of before has left, a worker of today takes over; and what that writes, one of
// before understands.
func TestWorkersOfTheVersionBefore(t *testing.T) {
	b := newBus(t)
	for _, m := range ofBefore(t) {
		agrees(t, m.Subject, m.Data)
		msg := nats.NewMsg(m.Subject)
		for key, value := range m.Header {
			msg.Header.Set(key, value)
		}
		msg.Data = m.Data
		if _, err := b.js.PublishMsg(t.Context(), msg); err != nil {
			t.Fatalf("%s: %v", m.Subject, err)
		}
	}
	all, _, err := b.List(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("there are %d loops, %v", len(all), err)
	}
	wrote, err := b.conn.SubscribeSync("$KV.>")
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{"one": "promise", "two": "cancelled", "three": "promise", "limited": "promise"}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	t.Setenv("RALPH_TEST_LOG", log)
	if err := os.WriteFile(filepath.Join(dir, "ralph-lsp"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	w := fleet.Worker{Bus: b, Name: "second", Dir: filepath.Join(dir, "w"), Program: filepath.Join(dir, "ralph-lsp"), Slots: 1, Log: slog.New(slog.DiscardHandler)}
	worked := make(chan error, 1)
	go func() {
		defer stop() // what it doesn't do nobody does
		worked <- w.Run(ctx)
	}()
	changes, err := b.Watch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]fleet.Record{}
	for r := range changes {
		if r.Phase == fleet.Ended {
			ended[r.Name] = r
		}
		if len(ended) == len(ends) {
			break
		}
	}
	if len(ended) < len(ends) {
		now, _, err := b.List(t.Context())
		t.Fatalf("only %d loops ended within %s: now they are %+v, %v", len(ended), patience, now, err)
	}
	stop()
	if err := <-worked; err != nil {
		t.Errorf("the worker: %v", err)
	}
	for name, why := range ends {
		if r := ended[name]; r.StopReason != why {
			t.Errorf("%s ended as %+v, want %s", name, r, why)
		}
	}
	if r := ended["one"]; r.Attempt != 3 || r.Told != 1 || r.Worker != "second" || len(r.Kept) != 2 {
		t.Errorf("one is %+v", r)
	}
	did, _ := os.ReadFile(log)
	for _, want := range []string{"--max-iterations=5: count 1, iteration: 2 mind the gap", "--max-iterations=5: count 1, iteration: 1"} {
		if !strings.Contains(string(did), want) {
			t.Errorf("its children did\n%swant %s", did, want)
		}
	}
	l, err := ledger.Whole(t.Context(), b)
	if err != nil || l.Limits.AtOnce["k"] != 2 || len(l.Running) != 0 || l.Spent < 1.75 {
		t.Errorf("the ledger is %+v, %v", l, err)
	}
	if err := b.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	n, _, err := wrote.Pending()
	for range n {
		m, err := wrote.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, m.Subject, m.Data)
	}
	if n < 6 {
		t.Errorf("the worker wrote %d values, %v", n, err)
	}
}
