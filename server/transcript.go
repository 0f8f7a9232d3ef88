package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"ralph-lsp/history"
	"ralph-lsp/loop"
	"ralph-lsp/server/feed"
	"ralph-lsp/server/rpc"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// transcript reads a session back, page by page.
func (rd *reader) transcript(ctx context.Context, p wire.TranscriptParams) (any, error) {
	path, err := rd.sessionPath(p)
	if err != nil {
		return nil, err
	}
	client := rd.ed.Client()
	page, err := ReadTranscript(ctx, path, p.Cursor, p.Limit, client.OptedIn && client.Thinking)
	var foreign *history.FormatError
	var unreadable *fs.PathError
	if errors.As(err, &foreign) || errors.As(err, &unreadable) {
		return nil, failed(wire.ReasonNoSession, err, nil)
	}
	return page, err
}

// sessionPath finds the session that a transcript is asked of.
func (rd *reader) sessionPath(p wire.TranscriptParams) (string, error) {
	switch {
	case p.SessionFileURI != "":
		path, err := wire.PathOf(p.SessionFileURI)
		if err != nil {
			return "", failed(wire.ReasonNoSession, err, nil)
		}
		return path, nil
	case p.LoopID == "":
		return "", rpc.Errorf(rpc.CodeInvalidParams, "name a loop by loopId, or a session by sessionFileUri")
	}
	if r := rd.loops.known(p.LoopID); r != nil && r.Status().SessionFile != "" {
		return r.Status().SessionFile, nil
	}
	rd.workspace.mu.Lock()
	folders := rd.workspace.paths()
	rd.workspace.mu.Unlock()
	for _, folder := range folders {
		path, err := history.Find(rd.sessions(folder), folder, p.LoopID)
		if err != nil || path != "" {
			return path, err
		}
	}
	return "", failed(wire.ReasonNoSession, fmt.Errorf("no session of the loop %s is here", p.LoopID), nil)
}

// ReadTranscript reads a page of a session file: at most limit updates, if that
// is positive, and at most maxReplayPage bytes, but one update at least. The
// error is a *history.FormatError for a file that is no session.
func ReadTranscript(ctx context.Context, path, cursor string, limit int, thinking bool) (wire.TranscriptResult, error) {
	page := wire.TranscriptResult{Updates: []json.RawMessage{}}
	at, err := parseCursor(cursor)
	if err != nil {
		return page, err
	}
	r, err := history.NewReader(path, at.History)
	if err != nil {
		return page, err
	}
	defer r.Close()
	view := transcriptView{encoder: wire.NewEncoder(), thinking: thinking}
	at.restore(&view.projector)
	size := 0
	for {
		before, skip := cursorAt(r.Cursor(), view.projector), at.Skip
		at.Skip = 0
		view.updates = nil
		if !r.Next(&view) {
			page.SkippedLines = r.Stats().Skipped
			return page, r.Err()
		}
		for i, u := range view.updates[min(skip, len(view.updates)):] {
			full := len(page.Updates) == limit && limit > 0 || size+len(u) > feed.MaxReplayPage
			if full && len(page.Updates) > 0 {
				before.Skip = skip + i
				page.NextCursor, page.SkippedLines = before.String(), r.Stats().Skipped
				return page, nil
			}
			page.Updates = append(page.Updates, u)
			size += len(u)
		}
		if err := ctx.Err(); err != nil {
			return page, err
		}
	}
}

// transcriptCursor is a place between two updates of a session.
type transcriptCursor struct {
	History history.Cursor   `json:"history"`         // of the line
	Skip    int              `json:"skip,omitempty"`  // updates of the line
	Spent   *float64         `json:"spent,omitempty"` // by the iterations before; nil: unknown
	Usage   wire.UsageUpdate `json:"usage,omitzero"`  // the last one
}

func cursorAt(at history.Cursor, p wire.Projector) transcriptCursor {
	return transcriptCursor{History: at, Spent: history.KnownCost(p.Spent), Usage: p.Usage}
}

// restore lets a projector go on from the cursor.
func (c transcriptCursor) restore(p *wire.Projector) {
	p.Spent, p.Usage = history.CostOf(c.Spent), c.Usage
}

// String is the cursor as clients have it.
func (c transcriptCursor) String() string {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has nothing that can't be encoded
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseCursor(s string) (c transcriptCursor, err error) {
	if s == "" {
		return c, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.Skip < 0 || c.History.Offset < 0 {
		return c, rpc.Errorf(rpc.CodeInvalidParams, "the cursor isn't one of a transcript")
	}
	return c, nil
}

// transcriptView collects the updates of a session's line.
type transcriptView struct {
	projector wire.Projector
	encoder   *wire.Encoder
	thinking  bool
	updates   []json.RawMessage
}

// Handle takes an event of the agent's.
func (v *transcriptView) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.Text:
		v.chunks(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		return
	case stream.Thinking:
		if v.thinking {
			v.chunks(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	}
	e, cut := wire.Shortened(e)
	if u := v.projector.Event(e); u != nil {
		v.add(u, cut)
	}
}

// HandleRecord takes what isn't the agent's. Inputs of the loop's own stay hidden.
func (v *transcriptView) HandleRecord(r history.Record) {
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback {
			v.text(r.Text, func(part wire.TextContent) wire.Update {
				return wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: r.ID, FromAgentID: stream.Plain(r.FromAgentID), FromSessionID: stream.Plain(r.FromSessionID), Content: part}
			})
		}
		return
	case history.Note:
		v.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)}, false)
		return
	}
	if e := loop.EventOf(r); e != nil {
		v.add(v.projector.Loop(e), false)
	}
}

// chunks adds what the agent or a subagent said.
func (v *transcriptView) chunks(kind, messageID, parent, text string) {
	v.text(text, func(part wire.TextContent) wire.Update {
		return wire.Chunk{SessionUpdate: kind, MessageID: messageID, ParentToolCallID: parent, Content: part}
	})
}

// text adds a text in pieces that updates may have.
func (v *transcriptView) text(text string, update func(wire.TextContent) wire.Update) {
	for text = stream.Plain(text); text != ""; {
		n := wire.FirstText(text, wire.MaxText)
		v.add(update(wire.TextContent{Type: "text", Text: text[:n]}), false)
		text = text[n:]
	}
}

func (v *transcriptView) add(u wire.Update, truncated bool) {
	u, cut := wire.Limited(u)
	if encoded, err := v.encoder.Encode(u, truncated || cut); err == nil { // without a tool's input there is nothing that can't be encoded
		v.updates = append(v.updates, bytes.Clone(encoded))
	}
}
