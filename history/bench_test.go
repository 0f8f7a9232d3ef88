package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// longLoop writes a loop that has about so many bytes of text
// and output: turns with a paragraph in small pieces and a tool's output of 4 KB
// that grows.
func longLoop(size int, h *Writer) {
	paragraph := strings.Fields(strings.Repeat("the parser reads \"quoted\" lines\nand keeps their ends; naïve ones don't. ", 8))
	output := strings.Repeat("ok  \tralph-lsp/stream\t0.123s\tcoverage: 93.1% of statements in \"./...\"\n", 56)
	h.HandleRecord(LoopStart{LoopID: "ralph-long", Title: "Work for long"})
	for turn, done := 0, 0; done < size; turn++ {
		if turn%50 == 0 {
			h.HandleRecord(begins(turn/50 + 1))
			h.HandleRecord(Input{Kind: InputCallback, Text: "Work for long"})
			h.Handle(stream.SessionStart{Backend: "pi", Provider: "anthropic", Model: "m"})
		}
		message, call := fmt.Sprintf("m%d", turn%50+1), fmt.Sprintf("toolu_%d", turn)
		for _, word := range paragraph {
			h.Handle(stream.Text{Delta: word + " ", MessageID: message})
		}
		text := strings.Join(paragraph, " ") + " "
		h.Handle(stream.MessageEnd{MessageID: message, Text: text})
		h.Handle(stream.ToolCall{ID: call, Name: "bash", Input: json.RawMessage(`{"command":"go test -race -cover ./..."}`)})
		for part := 1; part <= 4; part++ {
			h.Handle(stream.ToolProgress{ID: call, Output: output[:len(output)*part/4]})
		}
		h.Handle(stream.ToolResult{ID: call, Output: output})
		h.Handle(stream.TurnEnd{StopReason: "toolUse", Usage: stream.Usage{Tokens: stream.Tokens{Input: 100, Output: 200}, Cost: stream.USD(0.01)}})
		done += len(text) + len(output)
		if turn%50 == 49 {
			h.HandleRecord(ends(turn/50+1, "ok", stream.Cost{}))
		}
	}
	h.HandleRecord(LoopEnd{StopReason: "promise"})
}

// BenchmarkWriter writes a loop's events.
func BenchmarkWriter(b *testing.B) {
	const size = 4 << 20
	b.SetBytes(size)
	for b.Loop() {
		dir := b.TempDir()
		w, err := NewWriter(Options{Folder: dir}, dir)
		must.OK(b, err)
		longLoop(size, w)
		must.OK(b, w.Close())
	}
}
