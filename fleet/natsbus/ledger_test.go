package natsbus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// Nobody else can know what was spent: what isn't a ledger stays as it is until its user mends it.
func TestALedgerThatIsNone(t *testing.T) {
	b := newBus(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	spend := func() error {
		return ledger.Change(ctx, b, func(l *ledger.Ledger) bool { l.Spent += 2; return true })
	}
	if err := spend(); err != nil {
		t.Fatal(err)
	}
	const broken = `{"spent":2,"limits":{"maxUsd":5`
	if _, err := b.sums.Put(ctx, ledger.CommonPart, []byte(broken)); err != nil {
		t.Fatal(err)
	}
	err := spend()
	if known := (*Problem)(nil); !errors.Is(err, ledger.ErrBroken) || !errors.As(err, &known) || !strings.Contains(known.Fix, "nats kv get RALPH_LEDGER ledger --raw") {
		t.Errorf("it says %v", err)
	}
	if entry, err := b.sums.Get(ctx, ledger.CommonPart); err != nil || string(entry.Value()) != broken {
		t.Errorf("it is %s, %v", entry.Value(), err)
	}
	for what, mend := range map[string]func() error{
		"mended":  func() error { _, err := b.sums.Put(ctx, ledger.CommonPart, []byte(broken+"}}")); return err },
		"deleted": func() error { return b.sums.Delete(ctx, ledger.CommonPart) },
	} {
		if err := mend(); err != nil {
			t.Fatal(err)
		}
		was, err := ledger.Whole(ctx, b)
		if err != nil || was.Limits.MaxUSD > 0 != (what == "mended") {
			t.Errorf("%s it is %+v, %v", what, was, err)
		}
		if err := spend(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if l, err := ledger.Whole(ctx, b); err != nil || l.Spent != was.Spent+2 {
			t.Errorf("%s and changed it is %+v, %v", what, l, err)
		}
	}
}

// Many begin at once. Each limit lets so many begin as it says, and what they spend is in the sum.
func TestManyReserveAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		limits ledger.Limits
		want   int64 // of 60 loops, of two keys
	}{
		"no limit":     {ledger.Limits{}, 60},
		"of a key":     {ledger.Limits{AtOnce: map[string]int{"k0": 7}}, 30 + 7},
		"a budget":     {ledger.Limits{MaxUSD: 11}, 11},
		"of each hour": {ledger.Limits{PerHour: 23}, 23},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBus(t)
			if err := ledger.Change(t.Context(), b, func(l *ledger.Ledger) bool { l.Limits = test.limits; return true }); err != nil {
				t.Fatal(err)
			}
			var begun atomic.Int64
			var all sync.WaitGroup
			loops := make([]fleet.Record, 60)
			for i := range loops {
				loops[i] = fleet.Record{Task: fleet.Task{ID: fmt.Sprintf("f%d", i), Key: fmt.Sprintf("k%d", i%2), Reserve: 1}}
				all.Go(func() {
					a, err := ledger.Reserve(t.Context(), b, fleet.ClaimOf(loops[i]), time.Now)
					if err != nil {
						t.Error(err)
					} else if a.Wait == 0 {
						begun.Add(1)
					}
				})
			}
			all.Wait()
			l, err := ledger.Whole(t.Context(), b)
			if n := begun.Load(); err != nil || n != test.want || len(l.Running) != int(n) {
				t.Errorf("%d begin, want %d; the ledger has %d, %v", n, test.want, len(l.Running), err)
			}
			for _, r := range loops {
				all.Go(func() {
					r.Attempt++
					if err := ledger.Settle(t.Context(), b, fleet.ClaimOf(r), 0.5, time.Now()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if l, err = ledger.Whole(t.Context(), b); err != nil || l.Spent != 0.5*float64(test.want) || len(l.Running) != 0 {
				t.Errorf("$%.2f are spent, %v, %v", l.Spent, l.Running, err)
			}
		})
	}
}
