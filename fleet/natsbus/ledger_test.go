package natsbus

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Nobody else can know what was spent: what isn't a ledger stays as it is until its user mends it.
func TestALedgerThatIsNone(t *testing.T) {
	b := newBus(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	spend := func() error {
		return fleet.ChangeLedger(ctx, b, func(l *fleet.Ledger) bool { l.Spent += 2; return true })
	}
	if err := spend(); err != nil {
		t.Fatal(err)
	}
	const broken = `{"spent":2,"limits":{"maxUsd":5`
	if _, err := b.sums.Put(ctx, ledgerKey, []byte(broken)); err != nil {
		t.Fatal(err)
	}
	err := spend()
	if known := (*Problem)(nil); !errors.Is(err, fleet.ErrLedger) || !errors.As(err, &known) || !strings.Contains(known.Fix, "nats kv get RALPH_LEDGER ledger --raw") {
		t.Errorf("it says %v", err)
	}
	if entry, err := b.sums.Get(ctx, ledgerKey); err != nil || string(entry.Value()) != broken {
		t.Errorf("it is %s, %v", entry.Value(), err)
	}
	for what, mend := range map[string]func() error{
		"mended":  func() error { _, err := b.sums.Put(ctx, ledgerKey, []byte(broken+"}}")); return err },
		"deleted": func() error { return b.sums.Delete(ctx, ledgerKey) },
	} {
		if err := mend(); err != nil {
			t.Fatal(err)
		}
		was, _, err := b.Ledger(ctx)
		if err != nil || was.Limits.MaxUSD > 0 != (what == "mended") {
			t.Errorf("%s it is %+v, %v", what, was, err)
		}
		if err := spend(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if l, _, err := b.Ledger(ctx); err != nil || l.Spent != was.Spent+2 {
			t.Errorf("%s and changed it is %+v, %v", what, l, err)
		}
	}
}
