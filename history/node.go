package history

import (
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
}

// readNode reads the structure of a line.
func readNode(line []byte) lineNode {
	var n lineNode
	c := jsoncursor.New(line)
	isObject := c.Peek() == '{'
	c.Members("type", &n.kind, "id", &n.id, "cwd", &n.cwd, "timestamp", &n.time,
		"parentId", &n.parent)
	n.ok = isObject && c.Done() && n.kind != ""
	return n
}
