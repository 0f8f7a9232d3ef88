package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
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
		Usage      usage   `json:"usage"`
	} `json:"message"`
	Data struct {
		ChatEventType string          `json:"chatEventType"`
		Payload       json.RawMessage `json:"payload"`
	} `json:"data"`
	Total stream.Cost `json:"totalCostUsd"` // of a correction
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
	markUsage     = `"usage":{`
)

// entries are those of a session whose lines have one of the marks. What can't be read is left out, and so is a line that
// is cut off. The error is the last; it is a *FormatError for a file that is no session.
func entries(path string, marks ...string) iter.Seq2[ownEntry, error] {
	return func(yield func(ownEntry, error) bool) {
		file, err := paths.OpenRegular(path, os.O_RDONLY)
		if err != nil {
			yield(ownEntry{}, fmt.Errorf("opening the session: %w", err))
			return
		}
		defer file.Close()
		in := lines.NewReader(file, maxLine)
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

// payloadOf hands a payload on if it is one.
func payloadOf[P any](payload []byte, use func(P)) bool {
	var p P
	if json.Unmarshal(payload, &p) != nil {
		return false
	}
	use(p)
	return true
}

// CostOfLoop is what a loop has cost so far by its session, including runs that were cut off: its
// process may have been killed before it wrote that elsewhere.
func CostOfLoop(path, loopID string) (total stream.Cost, err error) {
	isIts := false      // what comes is the loop's
	var run stream.Cost // of the run so far
	endRun := func(cost stream.Cost) {
		if cost.Known { // as its end says, or as far as it came
			run = cost
		}
		if isIts {
			total = total.Plus(run)
		}
		run = stream.Cost{}
	}
	for e, err := range entries(path, markEvent, markUsage) {
		if err != nil {
			return stream.Cost{}, err
		}
		switch e.Data.ChatEventType {
		case eventLoopStart:
			payloadOf(e.Data.Payload, func(r LoopStart) {
				endRun(stream.Cost{})
				isIts = r.LoopID == loopID
			})
		case eventIterationStart: // a reviewer may have worked before it
			endRun(stream.Cost{})
		case eventIterationEnd:
			payloadOf(e.Data.Payload, func(r IterationEnd) { endRun(r.Cost) })
		default:
			if e.Message.Role == "assistant" && !e.Message.Usage.Cost.Unknown {
				run = run.Plus(stream.CostOf(e.Message.Usage.Cost.Total))
			}
			if c := e.Total; c.Known && c.USD > run.USD {
				run = c
			}
		}
	}
	endRun(stream.Cost{})
	return total, nil
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
