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
	toolCallID   string      // of a tool's result
	isError      bool        // the same
	nested       NestedUsage // what that tool has used
}

// failed says whether the model's answer failed, whatever it contains.
func (m piMessage) failed() bool {
	return m.stopReason == "error" || m.stopReason == "aborted" || m.errorMessage != ""
}

// piMessageOf reads the member "message" of a line.
func piMessageOf(line []byte) (m piMessage, err error) {
	c := jsoncursor.New(line)
	for top := c.Object(); top.Next(); {
		if string(top.Key) != "message" {
			continue
		}
		m = readPiMessage(c)
	}
	if !c.Done() {
		return piMessage{}, ErrMalformed
	}
	return m, nil
}

func readPiMessage(c *jsoncursor.Cursor) (m piMessage) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "role":
			m.role = c.Text()
		case "provider":
			m.provider = c.Text()
		case "model":
			m.model = c.Text()
		case "stopReason":
			m.stopReason = c.Text()
		case "errorMessage":
			m.errorMessage = c.Text()
		case "content":
			m.content = c.Raw()
		case "toolCallId":
			m.toolCallID = c.Text()
		case "isError":
			m.isError = c.Bool()
		case "usage", "details":
			m.nested.read(o.Key, c)
		}
	}
	m.usage = m.nested.Own
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
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "input":
			u.Tokens.Input = c.Count()
		case "output":
			u.Tokens.Output = c.Count()
		case "cacheRead":
			u.Tokens.CacheRead = c.Count()
		case "cacheWrite":
			u.Tokens.CacheWrite = c.Count()
		case "cost":
			if c.Peek() != '{' { // the subagent tool among pi's examples writes only the sum
				u.Cost = costAt(c)
				continue
			}
			for cost := c.Object(); cost.Next(); {
				if string(cost.Key) == "total" {
					u.Cost = costAt(c)
				}
			}
		}
	}
	u.Context = u.Tokens.Total()
	return u
}
