package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// longLoop writes a loop that has about so many bytes of text
// and output: turns with a paragraph in small pieces and a tool's output of 4 KB
// that grows.
func longLoop(size int, h *Writer) {
	paragraph := strings.Fields(strings.Repeat("the parser reads \"quoted\" lines\nand keeps their ends; naïve ones don't. ", 8))
	output := strings.Repeat("ok  \tralph-lsp/stream\t0.123s\tcoverage: 93.1% of statements in \"./...\"\n", 56)
	h.HandleRecord(LoopStart{LoopID: "ralph-long", Backend: "pi", Title: "Work for long", Prompt: "Work for long"})
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
		if err != nil {
			b.Fatal(err)
		}
		longLoop(size, w)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists a folder with 10,000 loops.
func BenchmarkList(b *testing.B) {
	const sessions = 10_000
	dir, cwd := b.TempDir(), paths.Real(b.TempDir())
	w, err := NewWriter(Options{Folder: dir}, cwd)
	if err != nil {
		b.Fatal(err)
	}
	longLoop(100<<10, w)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	content, err := os.ReadFile(w.Path())
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	short := bytes.Join(bytes.SplitAfter(content, []byte{'\n'})[:6], nil)
	last := content[bytes.LastIndexByte(content[:len(content)-1], '\n')+1:]
	content = append(append(short, bytes.Repeat([]byte(`{"type":"label"}`+"\n"), 600)...), last...) // 15 KB
	for i := range sessions - 1 {
		name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(start.Add(time.Duration(i)*time.Minute))) + "_x.jsonl"
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("prompts", func(b *testing.B) {
		for b.Loop() {
			if found, err := Prompts(Options{Folder: dir}, cwd); err != nil || len(found) != 1 || found[0].Uses != promptLoops {
				b.Fatal(found, err)
			}
		}
	})
	for _, limit := range []int{0, 50} {
		b.Run(fmt.Sprintf("limit-%d", limit), func(b *testing.B) {
			for b.Loop() {
				found, err := List(Options{Folder: dir}, cwd, limit)
				if err != nil || limit == 0 && len(found) != sessions || found[0].End == nil {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
