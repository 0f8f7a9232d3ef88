package fleet

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// later adds a key of a later version to every object in a JSON text, but to maps from names.
func later(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = later(t, value)
		}
		if _, isMap := v["f1"]; !isMap {
			v["later"] = map[string]any{"big": 12345678901234567, "text": "<ü>"}
		}
	case []any:
		for i := range v {
			v[i] = later(t, v[i])
		}
	}
	return v
}

// tree is a JSON text as values that can be compared.
func tree(t *testing.T, data []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// changed reads something as a later version wrote it, changes and writes it, and reads that.
func changed[T any](t *testing.T, was T, change func(*T)) (wrote, kept any) {
	t.Helper()
	data, err := Encode(was)
	if err != nil {
		t.Fatal(err)
	}
	data, err = json.Marshal(later(t, tree(t, data)))
	if err != nil {
		t.Fatal(err)
	}
	var now T
	if err := Decode(data, &now); err != nil {
		t.Fatal(err)
	}
	change(&now)
	again, err := Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, data), tree(t, again)
}

func TestWhatALaterVersionWroteStays(t *testing.T) {
	l := ledger.Ledger{
		Limits: ledger.Limits{MaxUSD: 3, AtOnce: map[string]int{"f1": 2}}, Running: map[string]ledger.Reservation{"f1": {Attempt: 1, Key: "k", USD: 1}},
		Begun: []ledger.Minute{{At: noon.Unix() / 60, N: 3}},
	}
	wrote, kept := changed(t, l, func(l *ledger.Ledger) { l.Settle("another", 1, 1) })
	if !reflect.DeepEqual(kept, wrote) {
		t.Errorf("kept of the ledger is %v\nof %v", kept, wrote)
	}
	_, kept = changed(t, l, func(l *ledger.Ledger) {
		m := newMemory()
		must(0, m.PutLedger(t.Context(), ledger.CommonPart, *l, 0))
		must(ledger.Reserve(t.Context(), m, ledger.Claim{ID: "f2", Key: "k", Reserve: 1}, func() time.Time { return noon }))
		*l, _, _ = m.Ledger(t.Context(), ledger.CommonPart)
	})
	now := kept.(map[string]any)
	if now["later"] == nil || now["limits"].(map[string]any)["later"] == nil || now["begun"].([]any)[0].(map[string]any)["later"] == nil {
		t.Errorf("behind an attempt the ledger is %v", kept)
	}
	for name, change := range map[string]func(*Record){
		"begin":    func(r *Record) { r.Begin("w", noon) },
		"steer":    func(r *Record) { r.Steer("x", noon) },
		"cancel":   func(r *Record) { r.Cancel(noon) },
		"complete": func(r *Record) { r.Begin("w", noon); r.Commit(1, Outcome{StopReason: "promise"}, noon) },
	} {
		_, kept := changed(t, queued(), change)
		if kept.(map[string]any)["later"] == nil {
			t.Errorf("%s loses what a later version wrote: %v", name, kept)
		}
	}
	var r Record
	if err := Decode([]byte(`{"id":"f1","phase":"queued","later":7}`), &r); err != nil {
		t.Fatal(err)
	}
	said, err := Encode(Submitted{Record: r, IsNew: true})
	if s, _ := tree(t, said).(map[string]any); err != nil || s["new"] != true || s["id"] != "f1" || s["later"] == nil {
		t.Errorf("a submitted loop is %s, %v", said, err)
	}
}

func TestWhatNeedsANewerWorkerIsLeftAlone(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	if _, err := Change(t.Context(), w.bus, r.ID, func(r *Record) error { r.Needs = []string{"telepathy"}; return nil }); err != nil {
		t.Fatal(err)
	}
	_, before, _ := w.bus.Get(t.Context(), r.ID)
	for range 3 { // it says why once
		ticket, err := w.bus.Take(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		a, wait, err := w.worker.begin(t.Context(), ticket)
		if a != nil || wait != time.Second || err != nil {
			t.Fatalf("it took %+v, waits %v, %v", a, wait, err)
		}
		must(0, ticket.Later(t.Context(), 0))
	}
	r, after, _ := w.bus.Get(t.Context(), r.ID)
	if r.Phase != Queued || r.Attempt != 0 || after != before+1 || r.Reason != "it needs a newer worker (telepathy)" {
		t.Errorf("after %d changes it is %+v", after-before, r)
	}
	must(0, ledger.Change(t.Context(), w.bus, func(l *ledger.Ledger) bool { l.Needs = []string{"telepathy"}; return true }))
	c := must(ledger.Reserve(t.Context(), w.bus, ClaimOf(queued()), func() time.Time { return noon }))
	if l := must(ledger.Whole(t.Context(), w.bus)); c.Wait != lookAgain || !strings.Contains(c.Why, "telepathy") || len(l.Running) != 0 {
		t.Errorf("it gets %+v: %+v", c, l)
	}
}
