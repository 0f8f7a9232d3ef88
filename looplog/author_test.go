package looplog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph-lsp/history"
	"ralph-lsp/wire"
)

// What an agent was told keeps its author from the moment at which it is told to
// the page on which an editor reads it again.
func TestTheAuthorOfAnInputIsInTheLog(t *testing.T) {
	long := strings.Repeat("Mind the tests. ", wire.MaxText/8)
	inputs := []history.Input{
		{Kind: history.InputAgent, Text: "Leave the parser alone", FromAgentID: "lead", FromSessionID: "s1"},
		{Kind: history.InputUser, Text: "Be quick"},
		{Kind: history.InputCallback, Text: "hidden", FromAgentID: "lead"},
		{Kind: history.InputAgent, Text: long, FromAgentID: "lead\x1b[31m"},
	}
	w, err := history.NewWriter(history.Options{Folder: t.TempDir()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRecord(history.LoopStart{LoopID: "ralph-1", Backend: "pi"})
	live := newView(place{}, false)
	for _, in := range inputs {
		w.HandleRecord(in)
		live.HandleRecord(in)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	page, err := new(Pages).Read(t.Context(), w.Path(), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != len(live.items) || len(page.Items) != 4 { // the long one is two
		t.Fatalf("%d updates, live %d", len(page.Items), len(live.items))
	}
	author := func(i int, updates []string) string {
		_, behind, _ := strings.Cut(updates[i], `"fromAgentId":`)
		who, _, _ := strings.Cut(behind, `"content"`)
		return who
	}
	var was, is []string
	for i := range page.Items {
		was, is = append(was, string(live.items[i].JSON)), append(is, string(page.Items[i].JSON))
		if author(i, was) != author(i, is) {
			t.Errorf("update %d: live %.200s, read %.200s", i, was[i], is[i])
		}
	}
	for i, want := range []string{`"lead","fromSessionId":"s1",`, "", `"lead",`, `"lead",`} {
		if got := author(i, is); got != want {
			t.Errorf("update %d is by %q, want %q: %.200s", i, got, want, is[i])
		}
	}
}

func TestTheAuthorOfAnotherWritersInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	lines := `{"type":"session","version":3,"id":"01a1f8b4","timestamp":"2026-11-20T11:25:50.210Z","cwd":"/w"}
{"type":"custom_message","id":"00000010","parentId":null,"timestamp":"2026-11-20T11:25:50.305Z","customType":"assistant.input","content":"Mind the tests","display":true,"details":{"kind":"agent","fromAgentId":"lead","fromSessionId":"s1"}}
{"type":"custom","id":"00000011","parentId":"00000010","timestamp":"2026-11-20T11:25:50.305Z","customType":"assistant.event","data":{"chatEventType":"agent_callback","payload":{"messageId":"m9","fromAgentId":"reviewer","result":"Looks good"}}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := new(Pages).Read(t.Context(), file, "", Options{})
	if err != nil || len(page.Items) != 2 {
		t.Fatal(page, err)
	}
	for i, want := range []string{
		`{"sessionUpdate":"user_message_chunk","messageId":"00000010","fromAgentId":"lead","fromSessionId":"s1","content":{"type":"text","text":"Mind the tests"}}`,
		`{"sessionUpdate":"user_message_chunk","messageId":"m9","fromAgentId":"reviewer","content":{"type":"text","text":"Looks good"}}`,
	} {
		if string(page.Items[i].JSON) != want {
			t.Errorf("got  %s\nwant %s", page.Items[i].JSON, want)
		}
	}
}
