package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// kept is the session file with a loop's conversation, as pi has it. It is the loop's Session.
type kept struct {
	cfg    setup.Config
	writer *history.Writer        // nil: it is switched off, or can't be written
	first  func(wire.Update)      // is told with what the loop's story begins
	last   func(loop.End, func()) // and how it ends, with what lets go of the folder
	failed error                  // it couldn't be opened
	warned string                 // of what it was warned last
}

// Open takes up a loop's file, or prepares a new one.
func (k *kept) Open(path string, handedOn bool) string {
	var err error
	if path != "" {
		if k.writer, err = history.ContinueWriter(k.cfg.Storage.History, k.cfg.Folder, path); err == nil {
			return k.writer.Path()
		}
		isTheirs := handedOn && errors.Is(err, history.ErrElsewhere) // of the process that had the loop
		if !isTheirs && !errors.Is(err, fs.ErrNotExist) {
			k.failed = err
		}
	}
	if k.writer, err = history.NewWriter(k.cfg.Storage.History, k.cfg.Folder); err != nil {
		k.failed = err
	}
	return k.writer.Path()
}

// Begin writes the loop's beginning.
func (k *kept) Begin(s loop.Status) {
	k.writer.HandleRecord(history.LoopStart{LoopID: s.LoopID, Title: s.Title, Continued: k.cfg.Continue})
	if k.cfg.Continue {
		return
	}
	for text := stream.Sanitize(k.cfg.Prompt); text != ""; { // in pieces that updates may have
		n := wire.FirstText(text, wire.MaxText)
		k.first(wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: promptID, Content: wire.TextContent{Type: "text", Text: text[:n]}})
		text = text[n:]
	}
}

// promptID is the message with which the user starts a loop.
const promptID = "prompt"

// Given writes what an agent is given.
func (k *kept) Given(text string) {
	k.writer.HandleRecord(history.Input{Kind: history.InputCallback, Text: text})
}

// Rest writes what came at once.
func (k *kept) Rest() { k.writer.Flush() }

// Close writes how the loop ended, and closes the file. Nobody is warned of what fails now.
func (k *kept) Close(end *loop.End, release func()) {
	k.failed = errors.Join(k.failed, k.writer.Err())
	if end != nil {
		k.writer.HandleRecord(history.LoopEnd{StopReason: string(end.Reason)})
	}
	_ = k.writer.Close()
	k.writer = nil
	if end == nil {
		release()
		return
	}
	k.last(*end, release)
}

// handleLoop takes an event of the loop's own: where iterations are, and what an agent is told.
func (k *kept) handleLoop(e loop.Event) {
	switch e := e.(type) {
	case loop.Told:
		k.writer.HandleRecord(history.Input{Kind: history.InputAgent, Text: e.Text})
	case loop.IterationStart:
		k.writer.HandleRecord(history.IterationStart{Iteration: e.Iteration})
	case loop.IterationEnd:
		k.writer.HandleRecord(history.IterationEnd{Iteration: e.Iteration, Outcome: string(e.Outcome), Cost: e.Cost})
	}
}

// fails says whether there may be a failure.
func (k *kept) fails() bool { return k.failed != nil || k.writer.Err() != nil }

// failure is why the file isn't complete, once for each reason.
func (k *kept) failure() error {
	why := errors.Join(k.failed, k.writer.Err())
	if why == nil || why.Error() == k.warned {
		return nil
	}
	k.warned = why.Error()
	return fmt.Errorf("the loop's history is not complete: %w", why)
}
