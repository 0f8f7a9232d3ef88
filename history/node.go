package history

import (
	"bytes"
	"encoding/json"
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
	s := scanner{data: withoutBOM(line)}
	isObject := s.peek() == '{'
	for key := range s.members() {
		switch string(key) {
		case "type":
			n.kind = s.text()
		case "id":
			n.id = s.text()
		case "parentId":
			n.stray = s.peek() != '"' && s.peek() != 'n'
			n.parent = s.text()
		case "cwd":
			n.cwd = s.text()
		case "timestamp":
			n.time = s.text()
		case "version":
			n.version = int(s.integer())
		case "sessionId", "parentUuid", "leafUuid":
			n.claude = true
		}
	}
	n.ok = isObject && s.whole() && n.kind != ""
	return n
}

// strictNode is readNode for lines that other programs shall read: they may be
// more particular about what is JSON.
func strictNode(line []byte) lineNode {
	n := readNode(line)
	n.ok = n.ok && json.Valid(withoutBOM(line))
	return n
}

// withoutBOM drops a byte order mark, which editors put at a file's beginning.
func withoutBOM(line []byte) []byte { return bytes.TrimPrefix(line, []byte("\uFEFF")) }
