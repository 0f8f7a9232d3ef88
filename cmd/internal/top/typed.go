package top

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

// key is a typed key: a name such as "enter" or "ctrl+c"; a letter's name is itself. Pasted text has a text alone, so
// it can only stand where text is asked for.
type key struct{ name, text string }

// aliases are keys as some terminals send them.
var aliases = map[string]string{
	"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+m": "enter", "ctrl+[": "esc",
	"shift+backspace": "backspace", "shift+enter": "enter", "shift+esc": "esc", "shift+space": "space",
}

func keyOf(k tea.KeyPressMsg) key {
	if k.Code > unicode.MaxRune { // an arrow, say: with Shift it is the same
		k.Mod = 0
	}
	return key{cmp.Or(aliases[k.String()], k.String()), k.Text}
}

// page is a text in place of the story.
type page struct {
	title, text string
	top         int
	tree        *tree // of the files that it tells of; nil: of none
}

// choice is a question with a few answers, the safe one first.
type choice struct {
	title, detail string
	rows          []option
	at, top       int       // top: the first row of the detail that is shown
	question      string    // of an agent; "": the screen asks
	since         time.Time // when it was shown
}

type option struct {
	title string
	do    func() []effect // nil: nothing
}

// input is a line of text that is typed.
type input struct {
	ask          string
	text, behind string // in front of the cursor, and behind it
	done         func(text string) []effect
	changed      func(text string) []effect // hears what stands there, behind each key; nil: nobody does
}

// typed does what a key does: to what is asked, to a page, or to the loop.
func (m *model) typed(k key) []effect {
	switch {
	case k.name == "ctrl+c" && m.input == nil && m.choice == nil && m.page == nil:
		m.leaves = true
	case m.input != nil:
		in := m.input
		effects := m.typedInto(in, k)
		if in.changed != nil {
			effects = append(effects, in.changed(in.text+in.behind)...)
		}
		return effects
	case k.name == "":
	case m.choice != nil:
		return m.chooses(m.choice, k)
	case m.page != nil && slices.Contains([]string{"esc", "q", "ctrl+c", "?"}, k.name):
		m.show(nil)
	case m.page != nil && m.page.tree != nil && fileKeys[k.name] != 0:
		return m.page.choose(fileKeys[k.name])
	case m.page != nil:
		m.page.top = m.turned(m.page.top, k)
	default:
		return m.command(k)
	}
	return nil
}

// fileKeys go to another file where there are some.
var fileKeys = map[string]int{"up": -1, "k": -1, "down": 1, "j": 1}

// typedInto edits the line that is typed.
func (m *model) typedInto(in *input, k key) []effect {
	_, last := utf8.DecodeLastRuneInString(in.text)
	_, next := utf8.DecodeRuneInString(in.behind)
	switch k.name {
	case "esc", "ctrl+c":
		m.input, m.said = nil, said{}
		in.text, in.behind = "", ""
	case "enter":
		m.input = nil
		if text := strings.TrimSpace(in.text + in.behind); text != "" {
			return in.done(text)
		}
	case "backspace":
		in.text = in.text[:len(in.text)-last]
	case "left":
		in.text, in.behind = in.text[:len(in.text)-last], in.text[len(in.text)-last:]+in.behind
	case "right":
		in.text, in.behind = in.text+in.behind[:next], in.behind[next:]
	case "home", "ctrl+a":
		in.text, in.behind = "", in.text+in.behind
	case "end", "ctrl+e":
		in.text, in.behind = in.text+in.behind, ""
	case "ctrl+u":
		in.text = ""
	case "ctrl+w":
		in.text = strings.TrimRight(in.text, " ")
		in.text = in.text[:strings.LastIndexByte(in.text, ' ')+1]
	case "": // it was pasted
		in.text += terminal.Line(k.text)
	default:
		in.text += k.text
	}
	return nil
}

func (m *model) chooses(c *choice, k key) []effect {
	switch k.name {
	case "esc", "q", "ctrl+c":
		m.choice = nil
	case "up", "k", "shift+tab":
		c.at = max(c.at-1, 0)
	case "down", "j", "tab":
		c.at = min(c.at+1, len(c.rows)-1)
	case "enter":
		if c.at > 0 && m.now().Sub(c.since) < terminal.TooSoon { // before its question can have been read
			m.fail("that came before the question was there to be read")
			return nil
		}
		m.choice = nil
		if do := c.rows[c.at].do; do != nil {
			return do()
		}
	default:
		c.top = m.turned(c.top, k)
	}
	return nil
}

// turned is where a text is shown from, behind a key. Its picture knows where it ends.
func (m *model) turned(top int, k key) int {
	half := m.height / 2
	by := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -half, "pgdown": half, "space": half, "home": -top,
		"g": -top, "end": maxPrinted, "G": maxPrinted}
	return max(top+by[k.name], 0)
}

// command does what a key does where nothing is asked.
func (m *model) command(k key) []effect {
	s, ok := m.seen()
	page := max(m.story.height-1, 1)
	switch k.name {
	case "q":
		m.leaves = true
	case "?":
		m.show(m.help())
	case "o":
		m.loops.order = (m.loops.order + 1) % len(orders)
		m.arrange(m.id)
	case "f":
		m.narrow()
	case "tab", "shift+tab":
		m.inStory = !m.inStory
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.story.scroll(-page)
	case "pgdown", "space":
		m.story.scroll(page)
	case "home", "g":
		m.story.scroll(-m.story.rows())
	case "end", "G":
		m.story.scroll(m.story.rows())
	case "left", "[":
		m.story.choose(-1)
	case "right", "]":
		m.story.choose(1)
	case "enter":
		return m.unfold(m.story.chosen())
	case "esc":
		m.said, m.sought, m.story.hit, m.loops.filter = said{}, "", -1, ""
		m.arrange(m.id)
	case "n", "N":
		by := map[string]int{"n": 1, "N": -1}[k.name]
		if m.sought != "" && !m.story.search(m.sought, by) {
			m.fail("no more of “" + m.sought + "” there")
		}
	}
	for _, b := range bindings() {
		if b.key == k.name && ok {
			return m.press(b, s)
		}
	}
	return nil
}

// narrow asks for the text that listed loops have. The list follows what is typed, and that alone lets go of the loop that is shown.
func (m *model) narrow() {
	follow := func(text string) []effect {
		if text = strings.TrimSpace(text); text != m.loops.filter {
			m.loops.filter = text
			m.arrange("")
		}
		return nil
	}
	m.input = &input{ask: "only loops with: ", text: m.loops.filter, changed: follow, done: func(string) []effect { return nil }}
}

// move moves in the story or among the loops.
func (m *model) move(by int) {
	if m.inStory {
		m.story.scroll(by)
	} else if at := m.loops.indexOf(m.id) + by; at >= 0 && at < len(m.loops.shown) {
		m.turnTo(m.loops.shown[at].LoopID)
	}
}
