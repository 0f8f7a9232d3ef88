package history

import (
	"bytes"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// lineNode is what all kinds of lines have, for those who look at a file's
// structure only.
type lineNode struct {
	ok     bool // it is an object with a type, as all entries are
	kind   string
	id     string
	parent string
	stray  bool // parentId is neither an id nor null
	cwd    string
	time   string
	claude bool // it has what only claude's lines have

	version int // of a header
}

// readNode reads the structure of a line.
func readNode(line []byte) lineNode {
	var n lineNode
	c := jsoncursor.New(line)
	isObject := c.Peek() == '{'
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			n.kind = c.Text()
		case "id":
			n.id = c.Text()
		case "parentId":
			n.stray = c.Peek() != '"' && c.Peek() != 'n'
			n.parent = c.Text()
		case "cwd":
			n.cwd = c.Text()
		case "timestamp":
			n.time = c.Text()
		case "version":
			n.version = int(c.Count())
		case "sessionId", "parentUuid", "leafUuid":
			n.claude = true
		}
	}
	n.ok = isObject && c.Done() && n.kind != ""
	return n
}

// strictNode is readNode for lines that other programs should read: they may be
// more particular about what is JSON.
func strictNode(line []byte) lineNode {
	n := readNode(line)
	n.ok = n.ok && json.Valid(withoutBOM(line))
	return n
}

// withoutBOM drops a byte order mark, which editors put at a file's beginning.
func withoutBOM(line []byte) []byte { return bytes.TrimPrefix(line, []byte("\uFEFF")) }
