package history

import (
	"bytes"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// lineNode is what all kinds of lines have, for those who look at a file's
// structure only.
type lineNode struct {
	ok     bool // it is an object with a type, as all entries are
	kind   string
	id     string
	parent string
	cwd    string
	time   string
	claude bool // it has what only claude's lines have
}

// readNode reads the structure of a line.
func readNode(line []byte) lineNode {
	var n lineNode
	c := jsoncursor.New(line)
	isObject := c.Peek() == '{'
	isClaudes := func() { n.claude = true }
	c.Members("type", &n.kind, "id", &n.id, "cwd", &n.cwd, "timestamp", &n.time,
		"parentId", &n.parent,
		"sessionId", isClaudes, "parentUuid", isClaudes, "leafUuid", isClaudes)
	n.ok = isObject && c.Done() && n.kind != ""
	return n
}

// withoutBOM drops a byte order mark, which editors put at a file's beginning.
func withoutBOM(line []byte) []byte { return bytes.TrimPrefix(line, []byte("\uFEFF")) }
