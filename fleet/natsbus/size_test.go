//go:build !race

package natsbus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// full is a record that has as much of everything as it can.
func full(t *testing.T) fleet.Record {
	t.Helper()
	now := time.Now()
	r := fleet.Record{Task: fleet.Task{ID: "f1", Name: "one", Priority: fleet.Normal, Setup: []string{strings.Repeat("x", 60<<10)}}, Phase: fleet.Queued}
	for _, text := range []string{"<", "\x01", "ü", "x"} { // some of it is longer in a record
		for r.Steer(strings.Repeat(text, 5000), now) == nil {
		}
	}
	for i := range 5000 {
		r.Kept = append(r.Kept, 1_000_000+i)
	}
	r.Begin("worker", now)
	if err := r.Commit(1, fleet.Outcome{HasState: true, Text: strings.Repeat("\x01", 10<<10)}, now); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoMessageIsTooLong(t *testing.T) {
	b := newBus(t)
	said, err := b.conn.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	said.SetPendingLimits(-1, -1)
	r := full(t)
	if err := b.Create(t.Context(), r); err != nil {
		t.Errorf("a record that is full: %v", err)
	}
	_, revision, err := b.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.Text = strings.Repeat("x", maxMessage)
	if err := b.Put(t.Context(), r, revision); err == nil || !strings.Contains(err.Error(), "the record of f1 has") {
		t.Errorf("more than that is refused with %v", err)
	}
	if err := b.Show(t.Context(), fleet.Shown{ID: "f1", Status: make([]byte, maxMessage)}); err == nil {
		t.Error("a status that is too long is sent")
	}
	l := ledger.Ledger{Running: map[string]ledger.Reservation{}}
	for i := range 5000 {
		l.Running[fmt.Sprint(i)] = ledger.Reservation{Key: strings.Repeat("k", 100)}
	}
	if err := b.PutLedger(t.Context(), ledger.CommonPart, l, 0); err == nil || !strings.Contains(err.Error(), "the record of ledger has") {
		t.Errorf("a ledger that is too long is refused with %v", err)
	}
	if err := b.PutFile(t.Context(), "file", strings.NewReader(strings.Repeat("x", 1<<20))); err != nil {
		t.Error(err)
	}
	for _, line := range []string{
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"x` + strings.Repeat("ü", 1<<19) + `"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"t1","list":[` + strings.Repeat(`"`+strings.Repeat("x", 1<<12)+`",`, 1<<8) + `1]}`,
		`{"sessionUpdate":"other","list":[` + strings.Repeat(`1,`, 1<<19) + `1]}`,
		strings.Repeat("not json", 1<<17),
	} {
		if err := b.Tell(t.Context(), "f1", []byte(line+"\n")); err != nil {
			t.Error(err)
		}
	}
	if err := b.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	n, _, _ := said.Pending()
	for range n {
		m, err := said.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if m.Size() > maxMessage {
			t.Errorf("a message of %d bytes to %s", m.Size(), m.Subject)
		}
	}
	for kept := uint64(0); kept < 4; { // what the server has got isn't stored at once
		info, err := b.live.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept = info.State.Msgs
	}
	lines, err := b.Hear(t.Context(), "f1", true)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	for line := range lines {
		var update struct {
			SessionUpdate, MessageID, ToolCallID, Text string
			Content                                    struct{ Text string }
		}
		if err := json.Unmarshal(line, &update); err != nil || len(line) > maxLine+1 || line[len(line)-1] != '\n' {
			t.Errorf("%v: a line of %d bytes: %.100s", err, len(line), line)
		}
		words := strings.TrimLeft(update.Text+update.Content.Text, "xü")
		heard = append(heard, fmt.Sprint(update.SessionUpdate, update.MessageID, update.ToolCallID, " ", words))
	}
	want := []string{
		"agent_message_chunkm1 … (1016 KiB more in the transcript)", "tool_call_updatet1 ",
		"_ralph/note an update of 1024 KiB is left out here", "_ralph/note an update of 1024 KiB is left out here",
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	other, err := nats.Connect(b.conn.ConnectedUrl())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Publish("ralph.live.f1", make([]byte, maxMessage+1)); err == nil {
		t.Error("the bus takes longer messages of others")
	}
}
