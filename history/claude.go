package history

import (
	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeLine hands a line of one of claude's transcripts on; false means that
// it can't be read. Only messages and costs are shown: most other lines are
// claude's notes to itself, of kinds that change with each version.
func (d *decoder) claudeLine(line []byte) bool {
	var (
		kind, parent, session, version string
		meta, sidechain                bool
		m                              *message
		cost                           stream.Cost
	)
	c := jsoncursor.New(line)
	c.Members("type", &kind, "message", func() { m = readMessage(c) }, "isMeta", &meta, "isSidechain", &sidechain, "parentToolUseID", &parent,
		"parent_tool_use_id", &parent, "sessionId", &session, "version", &version, "totalCostUSD", func() { cost = readCost(c) })
	if !c.Done() || kind == "" {
		return false
	}
	if sidechain && parent == "" {
		parent = "sidechain" // whose tool call it was isn't said
	}
	switch {
	case kind == "cost-state":
		run := d.run
		run.Cost = cost
		d.setRun(run)
	case meta || m == nil:
	case kind == "assistant":
		d.atWork(stream.SessionStart{Backend: "claude", Version: version, Model: m.model, SessionID: session})
		d.claudeMessage(m, parent)
	case kind == "user":
		d.claudeInput(m, parent)
	}
	return true
}

// claudeMessage tells one line of a message.
func (d *decoder) claudeMessage(m *message, parent string) {
	first := d.message != m.id // it has a line for each block
	if first {
		d.message, d.told = m.id, 0
	}
	if thoughts := thinkingOf(m.parts); thoughts != "" {
		d.h.Handle(stream.Thinking{Delta: thoughts, MessageID: m.id, ParentToolCallID: parent})
	}
	if text := textOf(m.parts); text != "" {
		said := text
		if d.told > 0 {
			text = "\n" + text
		}
		d.told += len(text)
		d.h.Handle(stream.Text{Delta: text, MessageID: m.id, ParentToolCallID: parent})
		d.h.Handle(stream.MessageEnd{MessageID: m.id, Text: said, ParentToolCallID: parent})
	}
	for _, p := range m.parts {
		if p.kind == "toolCall" {
			p.call.ParentToolCallID = parent
			d.call(p.call, false)
		}
	}
	if parent == "" && first { // each line repeats the usage
		d.use(m.usage)
	}
}

// claudeInput tells what the user said, and the results of tools.
func (d *decoder) claudeInput(m *message, parent string) {
	for _, p := range m.parts {
		if p.kind == "toolResult" {
			d.result(stream.ToolResult{ID: p.call.ID, Output: p.text, IsError: p.failed, ParentToolCallID: parent})
		}
	}
	if text := textOf(m.parts); text != "" && parent == "" {
		d.h.HandleRecord(Input{Kind: InputUser, Text: text})
	}
}
