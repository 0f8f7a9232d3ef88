package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/stream/lines"
)

// maxLine is the longest line of a session that is read, in bytes.
const maxLine = 16 << 20

// ownEntry is what is read back of an entry that we have written.
type ownEntry struct {
	Message struct {
		Role       string  `json:"role"`
		ToolCallID string  `json:"toolCallId"`
		Content    []block `json:"content"`
	} `json:"message"`
	Data struct {
		ChatEventType string          `json:"chatEventType"`
		Payload       json.RawMessage `json:"payload"`
	} `json:"data"`
}

// text is what a message says.
func (e ownEntry) text() (text string) {
	for _, part := range e.Message.Content {
		if part.Text != nil {
			text += *part.Text
		}
	}
	return text
}

// Marks of the lines that are read back.
const (
	markEvent     = `"customType":"` + EventType + `"`
	markAssistant = `"role":"assistant"`
)

// entries returns the entries of a session whose lines have one of the marks. Unreadable lines are left out, and so
// is a line that is cut off. The error is the last; it is a *FormatError for a file that is no session.
func entries(path string, marks ...string) iter.Seq2[ownEntry, error] {
	return func(yield func(ownEntry, error) bool) {
		file, err := openSession(path, os.O_RDONLY)
		if err != nil {
			yield(ownEntry{}, fmt.Errorf("opening the session: %w", err))
			return
		}
		defer file.Close()
		in := lines.NewReader(io.LimitReader(file, maxSession), maxLine)
		for isFirst := true; ; isFirst = false {
			line, _, err := in.Next()
			if n := readNode(line); isFirst && n.kind != "session" {
				yield(ownEntry{}, &FormatError{Path: path})
				return
			}
			if err != nil {
				if err != io.EOF {
					yield(ownEntry{}, fmt.Errorf("reading the session: %w", err))
				}
				return
			}
			var e ownEntry
			isMarked := slices.ContainsFunc(marks, func(mark string) bool { return bytes.Contains(line, []byte(mark)) })
			if isMarked && json.Unmarshal(line, &e) == nil && !yield(e, nil) {
				return
			}
		}
	}
}

// maxSession bounds a session file, in bytes: a sparse one has no end in practice.
const maxSession = 4 << 30

func openSession(path string, flags int) (*os.File, error) {
	if err := regular.Check(path, maxSession); err != nil {
		return nil, err
	}
	return regular.Open(path, flags, 0)
}

// payloadOf hands a payload on if it is one.
func payloadOf[P any](payload []byte, use func(P)) bool {
	var p P
	if json.Unmarshal(payload, &p) != nil {
		return false
	}
	use(p)
	return true
}

// Output returns all that a session keeps of what a tool gave in an iteration; 0 is what comes before the first. ok is
// false for a call without a result. The error is a *FormatError for a file that is no session.
func Output(path string, iteration int, callID string) (output string, ok bool, err error) {
	quoted, err := marshalLine(callID)
	if err != nil {
		return "", false, err
	}
	at := 0
	for e, err := range entries(path, `"`+eventIterationStart+`"`, string(bytes.TrimSpace(quoted))) {
		var result resultPayload
		switch {
		case err != nil:
			return "", false, err
		case e.Data.ChatEventType == eventIterationStart:
			payloadOf(e.Data.Payload, func(r IterationStart) { at = r.Iteration })
		case e.Data.ChatEventType == eventToolResult:
			payloadOf(e.Data.Payload, func(p resultPayload) { result = p })
		case e.Message.Role == "toolResult":
			result = resultPayload{ToolCallID: e.Message.ToolCallID, Result: e.text()}
		}
		if at == iteration && callID != "" && result.ToolCallID == callID {
			return result.Result, true, nil
		}
	}
	return "", false, nil
}

// LastWords are what the agent said last in a session, "" when nobody knows.
func LastWords(path string) (words string) {
	for e, err := range entries(path, markAssistant) {
		if text := e.text(); err == nil && e.Message.Role == "assistant" && len(bytes.TrimSpace([]byte(text))) > 0 {
			words = text
		}
	}
	return words
}

// LoopOf is the id of the loop that a session file is of. The error is a *FormatError for a file that is no loop's.
func LoopOf(path string) (id string, err error) {
	for e, err := range entries(path, markEvent) {
		if err != nil {
			return "", err
		}
		var start LoopStart
		if e.Data.ChatEventType != eventLoopStart || json.Unmarshal(e.Data.Payload, &start) != nil {
			break
		}
		return start.LoopID, nil
	}
	return "", &FormatError{Path: path}
}
