package decode

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// liveMessage is the assistant message that is being written, for streams
// that show each piece once.
type liveMessage struct {
	id      string // "" while there is none
	count   int    // messages so far, for the ids that we have to make up
	text    tail
	visible bool // something was shown
}

// open begins the message with that id unless it is open already; an empty id
// stands for the open one, or a new one. Another open message ends.
func (m *liveMessage) open(id string, emit func(stream.Event)) {
	if m.id != "" && (id == "" || id == m.id) {
		return
	}
	m.end(emit)
	m.count++
	if id == "" {
		id = fmt.Sprintf("m%d", m.count)
	}
	m.id = id
}

// show adds text to the open message. A block starts a new line.
func (m *liveMessage) show(text string, block bool, emit func(stream.Event)) {
	if text == "" {
		return
	}
	if block && !m.text.empty() {
		text = "\n" + text
	}
	m.text.add(text)
	m.visible = true
	emit(stream.Text{Delta: text, MessageID: m.id})
}

func (m *liveMessage) think(text string, emit func(stream.Event)) {
	if text == "" {
		return
	}
	m.visible = true
	emit(stream.Thinking{Delta: text, MessageID: m.id})
}

// end closes the message with the text that was shown.
func (m *liveMessage) end(emit func(stream.Event)) { m.endWith(m.text.String(), emit) }

// endWith closes the message with its authoritative text, if there was anything of it.
func (m *liveMessage) endWith(text string, emit func(stream.Event)) {
	if m.visible || text != "" {
		m.close(text, emit)
	}
	m.reset()
}

func (m *liveMessage) close(text string, emit func(stream.Event)) {
	emit(stream.MessageEnd{MessageID: m.id, Text: text})
	m.reset()
}

// discard takes back what was shown of the message.
func (m *liveMessage) discard(emit func(stream.Event)) {
	if m.visible {
		emit(stream.MessageEnd{MessageID: m.id, Discarded: true})
	}
	m.reset()
}

func (m *liveMessage) reset() {
	m.id, m.visible = "", false
	m.text.text = m.text.text[:0]
}
