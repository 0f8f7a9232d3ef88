package documents

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// keyFile is a kind of file that has keys and values, for hover and completion.
type keyFile struct {
	separator string // between a key and its value
	node      func(offset int) config.Node
	lookup    func(path ...string) (config.Key, bool)
	children  func(table ...string) []config.Key
	// has says whether a key is written somewhere other than at an offset.
	has func(except int, path ...string) bool
}

// keyFile returns the document as one with keys; ok is false for prompts.
func (doc *document) keyFile() (f keyFile, ok bool) {
	switch doc.kind {
	case configDoc:
		parsed := config.Parse([]byte(doc.text))
		return keyFile{" = ", parsed.At, config.Lookup, config.Children, parsed.Has}, len(doc.text) <= config.MaxSize
	case stateDoc:
		front, _ := loopstate.FrontOf(doc.text)
		return keyFile{
			separator: ": ",
			node:      func(offset int) config.Node { return stateNode(doc.text, offset) },
			lookup:    func(path ...string) (config.Key, bool) { return stateKey(path[len(path)-1]) },
			children:  func(...string) []config.Key { return stateKeys() },
			has: func(except int, path ...string) bool {
				return slices.ContainsFunc(front.Lines, func(l loopstate.Line) bool { return l.Key == path[len(path)-1] && l.KeyStart != except })
			},
		}, front.End-front.Start <= maxFrontMatter
	}
	return keyFile{}, false
}

// Hover explains the key at a position; nil where there is none.
func (d *Documents) Hover(p protocol.HoverParams) *protocol.Hover {
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return nil
	}
	if view, ok := d.planOf(doc); ok {
		return view.hover(doc.offset(p.Position))
	}
	file, ok := doc.keyFile()
	if !ok {
		return nil
	}
	place := file.node(doc.offset(p.Position))
	if place.Where == config.Nowhere {
		return nil
	}
	key, ok := file.lookup(place.Path...)
	if !ok {
		return nil
	}
	facts := []string{describeKey(place.Path, key), key.Doc, currentMeaning(key, place.Value)}
	if doc.kind == stateDoc {
		if status, ok := d.env.LoopIn(d.folderOf(doc)); ok {
			facts = append(facts, "The loop: "+status.Text+".")
		}
	}
	if doc.kind == configDoc && place.Path[0] == "hats" {
		facts = append(facts, codeBlock(config.DrawHats([]byte(doc.text), backends.Names())))
	}
	at := doc.span(place.Start, place.End)
	return &protocol.Hover{Contents: markdown(facts...), Range: &at}
}

// codeBlock is a text as it is; "" for none. No hat's words end the block.
func codeBlock(text string) string {
	if text == "" {
		return ""
	}
	return "```text\n" + strings.ReplaceAll(text, "```", "'''") + "```"
}

// markdown puts the paragraphs that aren't empty below each other.
func markdown(paragraphs ...string) *protocol.MarkupContent {
	said := slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" })
	return &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: strings.Join(said, "\n\n")}
}

// describeKey is "**max_iterations**: whole number, default `50`".
func describeKey(path []string, key config.Key) string {
	text := fmt.Sprintf("**%s**: %s", strings.Join(path, "."), key.Type)
	if key.Values != nil {
		text += " (" + strings.Join(key.Values, ", ") + ")"
	}
	if key.Default != "" {
		text += ", default `" + key.Default + "`"
	}
	return text
}

// currentMeaning says what the value of a key comes to, where it doesn't say
// so itself.
func currentMeaning(key config.Key, value string) string {
	bare := strings.Trim(value, `"'`)
	switch {
	case key.Type == config.Backend && bare == config.Auto:
		return "Now: the first one installed of " + strings.Join(backends.Detected(), ", ") + "."
	case key.Zero != "" && bare != "" && strings.Trim(bare, "0.hms") == "":
		return "Now: " + key.Zero + "."
	case key.Zero != "":
		return "`0` means: " + key.Zero + "."
	case bare == "null":
		return "Now: none."
	}
	return ""
}
