package history

import "github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"

// lineNode is what all kinds of lines have, for those who look at a file's
// structure only.
type lineNode struct {
	ok   bool // it is an object with a type, as all entries are
	kind string
	id   string
	cwd  string
	time string // of a header
}

// readNode reads the structure of a line.
func readNode(line []byte) lineNode {
	var n lineNode
	c := jsoncursor.New(line)
	isObject := c.Peek() == '{'
	c.Members("type", &n.kind, "id", &n.id, "cwd", &n.cwd, "timestamp", &n.time)
	n.ok = isObject && c.Done() && n.kind != ""
	return n
}
