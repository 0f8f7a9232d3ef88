package looplog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/wire"
)

// TestPagesOfEachSize reads a session in pages of each size, each by somebody
// who knows nothing of those before, and wants the same updates.
func TestPagesOfEachSize(t *testing.T) {
	const path = "../testdata/pi-sessions/pi-sess.jsonl"
	whole, err := new(Pages).Read(t.Context(), path, "", Options{Thinking: true})
	if err != nil || len(whole.Items) < 10 || whole.More {
		t.Fatal(len(whole.Items), err)
	}
	var remembers Pages
	for limit := 1; limit <= len(whole.Items)+1; limit++ {
		var read []json.RawMessage
		for cursor, more := "", true; more; {
			page, err := remembers.Read(t.Context(), path, cursor, Options{Limit: limit, Thinking: true})
			anew, errAnew := new(Pages).Read(t.Context(), path, cursor, Options{Limit: limit, Thinking: true})
			if err != nil || errAnew != nil || len(page.Items) > limit || page.Reset || page.Cursor != anew.Cursor {
				t.Fatalf("limit %d: %d updates up to %s, %v; anew up to %s, %v", limit, len(page.Items), page.Cursor, err, anew.Cursor, errAnew)
			}
			read = append(read, page.Updates(false)...)
			cursor, more = page.Cursor, page.More
		}
		if !slices.EqualFunc(read, whole.Updates(false), func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Errorf("limit %d: %s", limit, read)
		}
	}
	if n := len(remembers.places); n == 0 || n > maxPlaces {
		t.Errorf("%d places are remembered", n)
	}
}

func TestALongTextComesInPieces(t *testing.T) {
	text := strings.Repeat("é", wire.MaxText)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	session := `{"type":"session","version":3,"id":"1","cwd":"/"}` + "\n" + `{"type":"message","id":"2","message":{"role":"user","content":"` + text + `"}}` + "\n"
	if err := os.WriteFile(path, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	var pages Pages
	joined, cursor, pieces := "", "", 0
	for more := true; more; pieces++ {
		page, err := pages.Read(t.Context(), path, cursor, Options{Limit: 1})
		if err != nil || len(page.Items) != 1 {
			t.Fatal(page, err)
		}
		var u wire.Chunk
		if err := json.Unmarshal(page.Items[0].JSON, &u); err != nil || u.SessionUpdate != wire.KindUserChunk {
			t.Fatal(string(page.Items[0].JSON), err)
		}
		joined += u.Content.Text
		cursor, more = page.Cursor, page.More
	}
	if joined != text || pieces < 2 {
		t.Errorf("%d pieces of %d bytes", pieces, len(joined))
	}
	if end, err := pages.End(t.Context(), path); err != nil || end != cursor {
		t.Errorf("the end is %s, the last page ends at %s (%v)", end, cursor, err)
	}
}

// TestWhoWasLiveGetsTheRestFromTheFile has cursors of an owner that died before
// it could write what it had told.
func TestWhoWasLiveGetsTheRestFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	entry := func(id, event, payload string) string {
		return `{"type":"custom","id":"` + id + `","customType":"assistant.event","data":{"chatEventType":"` + event + `","payload":` + payload + "}}\n"
	}
	head := `{"type":"session","version":3,"id":"1","cwd":"/"}` + "\n" + entry("2", "iteration_start", `{"iteration":1}`)
	tail := entry("3", "thinking", `{"text":"thoughts"}`) + entry("4", "warning", `{"message":"w"}`) +
		entry("5", "iteration_start", `{"iteration":2}`) + entry("6", "thinking", `{"text":"more"}`)
	if err := os.WriteFile(path, []byte(head+tail), 0o600); err != nil {
		t.Fatal(err)
	}
	for had, want := range map[*counts]string{
		{}:                               "thoughts w begin more",
		{kindThought: 5}:                 "hts w begin more",
		{kindThought: 8, kindWarning: 1}: "begin more",
		{kindThought: 90}:                "w begin more", // of which the file has only a part: what comes is none of it
	} {
		cursor := Cursor{Log: nameOf(path), Offset: int64(len(head)), Had: *had}.String()
		page, err := new(Pages).Read(t.Context(), path, cursor, Options{Thinking: true})
		var got []string
		for _, raw := range page.Updates(false) {
			var u struct {
				Message, Phase string
				Content        wire.TextContent
			}
			if err := json.Unmarshal(raw, &u); err != nil {
				t.Fatal(err)
			}
			got = append(got, u.Message+u.Phase+u.Content.Text)
		}
		if strings.Join(got, " ") != want || err != nil || page.Reset {
			t.Errorf("behind %v: %q, want %q (%v)", *had, got, want, err)
		}
	}
}
