package decode

import (
	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piMessage is the part of a pi message that matters here. content is raw JSON
// and valid only as long as its line.
type piMessage struct {
	role         string
	provider     string
	model        string
	stopReason   string
	errorMessage string
	content      []byte
	usage        stream.Usage
	toolCallID   string       // of a tool's result
	isError      bool         // the same
	listed       stream.Usage // by agents of that tool
}

// failed says whether the model's answer failed; it may have content all the same.
func (m piMessage) failed() bool {
	return m.stopReason == "error" || m.stopReason == "aborted" || m.errorMessage != ""
}

// piMessageOf reads the member "message" of a line.
func piMessageOf(line []byte) (m piMessage, err error) {
	c := jsoncursor.New(line)
	c.Members("message", func() { m = readPiMessage(c) })
	if !c.Done() {
		return piMessage{}, ErrMalformed
	}
	return m, nil
}

func readPiMessage(c *jsoncursor.Cursor) (m piMessage) {
	c.Members("role", &m.role, "provider", &m.provider, "model", &m.model, "stopReason", &m.stopReason, "errorMessage", &m.errorMessage,
		"content", &m.content, "toolCallId", &m.toolCallID, "isError", &m.isError,
		"usage", func() { m.usage = readPiUsage(c) }, "details", func() { m.listed = readListedUsage(c) })
	return m
}

// piUsage is the usage of one model call.
type piUsage stream.Usage

func (u *piUsage) UnmarshalJSON(data []byte) error {
	*u = piUsage(readPiUsage(jsoncursor.New(data)))
	return nil
}

// readPiUsage reads the usage of one model call.
func readPiUsage(c *jsoncursor.Cursor) (u stream.Usage) {
	cost := func() { u.Cost = costAt(c) }
	c.Members("input", &u.Tokens.Input, "output", &u.Tokens.Output, "cacheRead", &u.Tokens.CacheRead, "cacheWrite",
		&u.Tokens.CacheWrite, "cost", func() {
			if c.Peek() != '{' { // the subagent tool among pi's examples writes only the sum
				cost()
				return
			}
			c.Members("total", cost)
		})
	u.Context = u.Tokens.Total()
	return u
}
