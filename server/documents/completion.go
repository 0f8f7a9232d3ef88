package documents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
)

// Completion returns what can be written at a position; never nil.
func (d *Documents) Completion(p protocol.CompletionParams) *protocol.CompletionList {
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return list
	}
	if view, ok := d.planOf(doc); ok {
		list.Items = append(list.Items, view.complete(doc.offset(p.Position))...)
	}
	file, ok := doc.keyFile()
	if !ok {
		return list
	}
	c := completer{doc: doc, folder: d.folderOf(doc), file: file, node: file.node(doc.offset(p.Position))}
	if strings.ContainsAny(doc.text[c.node.Start:c.node.End], "\r\n") {
		return list // an edit of several lines is none of a completion's
	}
	switch c.node.Where {
	case config.InKey:
		c.completeKeys()
	case config.InHeader:
		c.completeTables(c.node.Path[:len(c.node.Path)-1], "", "]")
	case config.InValue:
		c.completeValues()
	}
	list.Items = append(list.Items, c.items...)
	return list
}

// completer collects the completions of one node.
type completer struct {
	doc    *document
	folder string // of the document
	file   keyFile
	node   config.Node
	items  []protocol.CompletionItem
}

// add adds a completion that replaces what is at the node by text. detail and
// doc may be "".
func (c *completer) add(kind protocol.CompletionItemKind, label, text, detail, doc string) {
	item := protocol.CompletionItem{
		Label: label, Kind: kind, FilterText: protocol.NewOptional(text),
		SortText: protocol.NewOptional(fmt.Sprintf("%03d", len(c.items))), // by their labels, headers would come before keys
		TextEdit: &protocol.TextEdit{Range: c.doc.span(c.node.Start, c.node.End), NewText: text},
	}
	if detail != "" {
		item.Detail = protocol.NewOptional(detail)
	}
	if doc != "" {
		item.Documentation = markdown(doc)
	}
	c.items = append(c.items, item)
}

// completeKeys offers the keys that aren't in the table yet, with their
// default, and headers where one can stand.
func (c *completer) completeKeys() {
	table := c.node.Path[:len(c.node.Path)-1]
	for _, key := range c.file.children(table...) {
		path := append(slices.Clone(table), key.Name())
		if key.Name() == config.Any || key.Type == config.Table || !config.InList(path...) && c.file.has(c.node.Start, path...) {
			continue
		}
		text := key.Name()
		if !c.node.Closed {
			text += c.file.separator + key.Default
		}
		c.add(protocol.CompletionItemKindProperty, key.Name(), text, string(key.Type), key.Doc)
	}
	lineStart := strings.LastIndexByte(c.doc.text[:c.node.Start], '\n') + 1
	startsLine := strings.TrimSpace(c.doc.text[lineStart:c.node.Start]) == ""
	if c.doc.kind == configDoc && startsLine && !c.node.Closed {
		c.completeTables(nil, "[", "]")
		c.completeTables([]string{"backends"}, "[backends.", "]")
	}
}

// completeTables offers the tables below one, between what opens and closes
// a header. A table of tables that the user names ends with a dot instead.
func (c *completer) completeTables(parent []string, opening, closing string) {
	for _, key := range c.file.children(parent...) {
		names := []string{key.Name()}
		if key.Name() == config.Any {
			names = userNames(parent)
		}
		for _, name := range names {
			path := append(slices.Clone(parent), name)
			end := closing
			isNamed := c.holdsNames(path)
			switch {
			case key.Type != config.Table, !isNamed && c.file.has(c.node.Start, path...):
				continue
			case c.node.Closed:
				end = ""
			case isNamed:
				end = "."
			}
			c.add(protocol.CompletionItemKindModule, opening+name+end, opening+name+end, string(key.Type), key.Doc)
		}
	}
}

// holdsNames says whether the user names the tables below one.
func (c *completer) holdsNames(table []string) bool {
	return slices.ContainsFunc(c.file.children(table...), func(k config.Key) bool { return k.Name() == config.Any })
}

// userNames are names to suggest where the user is free to choose.
func userNames(table []string) []string {
	if slices.Equal(table, []string{"backends"}) {
		return backends.Names()
	}
	return nil
}

// completeValues offers the values of a key.
func (c *completer) completeValues() {
	key, ok := c.file.lookup(c.node.Path...)
	if !ok {
		return
	}
	space := "" // between the separator and the value
	if before := c.doc.text[c.node.Start-1]; before == '=' || before == ':' {
		space = " "
	}
	for _, value := range c.values(key) {
		detail := ""
		if value == key.Default {
			detail = "default"
		}
		c.add(protocol.CompletionItemKindValue, value, space+value, detail, "")
	}
}

func (c *completer) values(key config.Key) []string {
	switch {
	case key.Type == config.Text && key.Name() == "agent":
		return quoted(agents.Read(c.folder).Names())
	case key.Type == config.Switch:
		return []string{"true", "false"}
	case key.Type == config.Backend && c.doc.kind == configDoc:
		return quoted(append([]string{config.Auto}, backends.Names()...))
	case key.Type == config.Backend:
		return quoted(backends.Names())
	case key.Values != nil:
		return quoted(key.Values)
	}
	return key.Samples
}

// quoted are texts as they stand in a file.
func quoted(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strconv.Quote(text))
	}
	return all
}
