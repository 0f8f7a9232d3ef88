package plan

import (
	"bytes"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

var (
	boxLine  = lazy.Regexp(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$`)
	listLine = lazy.Regexp(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
	headLine = lazy.Regexp(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$`)
)

// codeIndent is from where on a line outside of a list is code.
const codeIndent = 4

// listed is a line of a list that others may be below.
type listed struct{ indent, item int } // item -1: without a box

// reader goes through the lines of a Markdown file.
type reader struct {
	*Plan
	heading string
	open    []listed // that the next line may belong to
	fence   string   // that is open
	comment bool     // one is open
	cut     bool     // an empty line was the last
}

func (p *Plan) readMarkdown() {
	r := reader{Plan: p}
	line := 0
	for at := 0; at < len(p.Data) && len(p.Items) <= MaxItems; {
		end := len(p.Data)
		if i := bytes.IndexByte(p.Data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line++
		text := p.Data[at:end]
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		r.read(string(bytes.TrimRight(text, "\r\n")), end-len(text), line)
		at = end
	}
}

// read takes a line, which stands at a place in the file.
func (r *reader) read(text string, at, line int) {
	words := strings.TrimSpace(text)
	switch {
	case r.comment:
		r.comment = !strings.Contains(words, "-->")
		return
	case r.fence != "":
		if strings.HasPrefix(words, r.fence) && strings.Trim(words, r.fence[:1]) == "" {
			r.fence = ""
		}
		r.more(text)
		return
	case words == "":
		r.cut = true
		return
	case strings.HasPrefix(words, "<!--"):
		r.comment = !strings.Contains(words, "-->")
		return
	}
	if mark := fenceOf(words); mark != "" {
		r.fence = mark
		r.more(text)
		return
	}
	if found := headLine().FindStringSubmatch(text); found != nil {
		r.heading, r.open = found[1], nil
		return
	}
	if begin := strings.LastIndex(text, "<!--"); begin >= 0 && !strings.Contains(text[begin:], "-->") {
		r.comment, text = true, text[:begin]
	}
	found := listLine().FindStringSubmatch(text)
	if found == nil {
		r.more(text)
		return
	}
	indent := width(found[1])
	for len(r.open) > 0 && r.open[len(r.open)-1].indent >= indent {
		r.open = r.open[:len(r.open)-1]
	}
	if indent >= codeIndent && len(r.open) == 0 {
		return
	}
	box := boxLine().FindStringSubmatchIndex(text)
	if box == nil {
		r.more(text)
		r.open = append(r.open, listed{indent, r.parent()})
		return
	}
	it := Item{Line: line, Heading: r.heading, parent: r.parent(), checked: text[box[4]] != ' ', box: [2]int{at + box[4], at + box[5]}}
	if box[6] >= 0 {
		it.Text = it.annotate(text[box[6]:box[7]])
	}
	r.Items = append(r.Items, it)
	r.open, r.cut = append(r.open, listed{indent, len(r.Items) - 1}), false
}

// parent is the item that the next line is below, -1 for none.
func (r *reader) parent() int {
	if len(r.open) == 0 {
		return -1
	}
	return r.open[len(r.open)-1].item
}

// more takes a line that may belong to the item above.
func (r *reader) more(text string) {
	indent := width(text[:len(text)-len(strings.TrimLeft(text, " \t"))])
	for len(r.open) > 0 && r.open[len(r.open)-1].indent >= indent && (indent > 0 || r.cut) {
		r.open = r.open[:len(r.open)-1]
	}
	r.cut = false
	i := r.parent()
	if i < 0 || i != len(r.Items)-1 { // those below it come between
		return
	}
	it := &r.Items[i]
	if len(it.More) < maxText {
		it.More = strings.TrimPrefix(it.More+"\n"+it.annotate(strings.TrimSpace(text)), "\n")
	}
}

// width is how far white space indents.
func width(space string) (n int) {
	for _, c := range space {
		if n++; c == '\t' {
			n = (n + codeIndent - 1) / codeIndent * codeIndent
		}
	}
	return n
}

// fenceOf is what opens a block of code, "" for another line.
func fenceOf(words string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(words, c)
		if n := len(words) - len(rest); n >= 3 && !(c == "`" && strings.Contains(rest, c)) {
			return words[:n]
		}
	}
	return ""
}

// annotate takes our parentheses out of a text, except in code.
func (it *Item) annotate(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '`' {
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			end := strings.Index(text[i+n:], text[i:i+n])
			if end < 0 {
				end = 0
			} else {
				end += n
			}
			out.WriteString(text[i : i+n+end])
			i += n + end
			continue
		}
		key, begin := keyAt(text[i:])
		if key == "" {
			out.WriteByte(text[i])
			i++
			continue
		}
		end := closing(text[i:], key == "verify")
		if end < 0 {
			it.wrong = append(it.wrong, "("+key+": isn't closed; write a ) at its end")
			out.WriteString(text[i:])
			break
		}
		it.say(key, text[i+begin:i+end])
		i += end + 1
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// keyAt is what a text says that begins with a parenthesis for us, and where its value begins.
func keyAt(text string) (key string, begin int) {
	for _, key := range []string{"verify", "agent", "after"} {
		if n := len(key) + 2; len(text) >= n && strings.EqualFold(text[:n], "("+key+":") {
			return key, n
		}
	}
	return "", 0
}

// closing is where the parenthesis closes that a text begins with; -1: nowhere. Those in a command's quotes don't
// count, unless none closes then.
func closing(text string, isCommand bool) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isCommand && c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case isCommand && (c == '"' || c == '\''):
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	if isCommand {
		return closing(text, false)
	}
	return -1
}

// say takes down what an item says for us.
func (it *Item) say(key, value string) {
	value = strings.TrimSpace(value)
	if inner := strings.TrimSpace(strings.Trim(value, "`")); len(inner) < len(value) && strings.Count(value, "`")%2 == 0 &&
		!strings.Contains(inner, "`") {
		value = inner
	}
	switch {
	case value == "":
		it.wrong = append(it.wrong, key+": says nothing; write it, or leave the parentheses out")
	case len(value) > maxValue:
		it.wrong = append(it.wrong, key+": is too long to be shown; put a command into a file of its own")
	case key == "after":
		it.After = append(it.After, value)
	case key == "verify" && it.Verify == "":
		it.Verify = value
	case key == "agent" && it.Agent == "":
		it.Agent = value
	default:
		it.wrong = append(it.wrong, key+": is said twice; leave one out")
	}
}
