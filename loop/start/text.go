package start

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// Request is a start in the words of its user.
type Request struct {
	Options
	Prompt string // "" when only flags were given
	Slash  Slash  // SlashCancel or SlashHelp: it is no start
}

// Parse reads the text of a start, as a person types it on an editor's command line:
//
//	/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20
//
// The leading /ralph-loop may be missing; /cancel-ralph and /ralph-help are no
// starts. Words that begin with - are the flags of
// ralph-lsp run, with quotes as in a shell; an unknown one is an error. All else is
// the prompt, byte for byte but for quotes around the whole of it: quotes and
// apostrophes in it are never an error, and what is quoted there is no flag.
// Behind a lone -- all is prompt.
func Parse(text string) (Request, error) {
	var r Request
	if inner, ok := unquote(strings.TrimSpace(text)); ok && SlashOf(inner) != "" {
		text = inner
	}
	flags := newFlagSet()
	AddFlags(flags, &r.Options, ToStart)
	words, err := split(text, flags)
	if err != nil {
		return Request{}, err
	}
	if err := flags.Parse(words.args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return Request{}, errors.New("--help isn't a flag of a start; say /ralph-help")
		}
		return Request{}, FlagError(flags, err, "see /ralph-help", " (put text that begins with - after --)")
	}
	r.Prompt = words.prompt
	if words.slash != SlashStart {
		r.Slash = words.slash
	}
	if r.Slash != "" && r.Prompt != "" {
		return Request{}, fmt.Errorf("%s takes nothing after it; put a prompt that begins so after --", r.Slash)
	}
	return r, nil
}

// newFlagSet returns a set of flags that prints nothing.
func newFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	return flags
}

// splitText is a text in its parts.
type splitText struct {
	slash  Slash    // the first word, if it is a command
	args   []string // the flags with their values
	prompt string
}

// split takes the flags with their values out of a text. Neighbours in the prompt
// keep the white space that was between them; where a flag stood, it is one blank.
func split(text string, flags *pflag.FlagSet) (s splitText, err error) {
	var b strings.Builder
	hopeless := map[byte]bool{}
	words, between := 0, "" // of the prompt so far, and what stands behind it
	for at := 0; ; {
		start := at + len(text[at:]) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
		if between == "" {
			between = text[at:start]
		} else {
			between = " "
		}
		switch end := wordEnd(text, start, hopeless); {
		case start == end:
			if value, ok := unquote(b.String()); ok && words == 1 {
				s.prompt = value
				return s, nil
			}
			s.prompt = b.String()
			return s, nil
		case text[start:end] == "--":
			if words > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strings.TrimSpace(text[end:]))
			s.prompt = b.String()
			return s, nil
		case text[start] == '-' && end > start+1:
			if s.args, at, err = appendFlag(s.args, text, start, flags); err != nil {
				return splitText{}, err
			}
		case words == 0 && s.slash == "" && SlashOf(text[start:end]) != "":
			s.slash, at = SlashOf(text[start:end]), end
		default:
			if words > 0 {
				b.WriteString(between)
			}
			b.WriteString(text[start:end])
			words++
			at, between = end, ""
		}
	}
}

// appendFlag reads the flag at a place, and its value where that is the next word.
func appendFlag(args []string, text string, at int, flags *pflag.FlagSet) ([]string, int, error) {
	word, at, err := shellWord(text, at)
	if err != nil {
		return nil, 0, err
	}
	args = append(args, word)
	flag := flags.Lookup(strings.TrimPrefix(word, "--"))
	if flag == nil || flag.NoOptDefVal != "" {
		return args, at, nil
	}
	at = len(text) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
	if at == len(text) {
		return args, at, nil
	}
	word, at, err = shellWord(text, at)
	return append(args, word), at, err
}

// shellWord reads a word with its quotes as a shell does, and nothing else that
// a shell knows: no variables, no comments, no operators.
func shellWord(text string, at int) (word string, end int, err error) {
	var b strings.Builder
	var quote rune
	escaped := false
	for i, r := range text[at:] {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' { // inside, only these can be escaped
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && unicode.IsSpace(r):
			return b.String(), at + i, nil
		default:
			b.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return "", 0, fmt.Errorf("a quote %c is opened and never closed; close it, or write \\%c for the character itself", quote, quote)
	case escaped:
		return "", 0, errors.New("the text ends with a backslash; write \\\\ for the character itself")
	}
	return b.String(), len(text), nil
}

// shellWords returns the words of a text as shellWord reads them.
func shellWords(text string) ([]string, error) {
	var words []string
	for rest := strings.TrimLeftFunc(text, unicode.IsSpace); rest != ""; rest = strings.TrimLeftFunc(rest, unicode.IsSpace) {
		word, end, err := shellWord(rest, 0)
		if err != nil {
			return nil, err
		}
		words, rest = append(words, word), rest[end:]
	}
	return words, nil
}

// wordEnd returns where a word of a prompt ends: spaces inside of quotes belong to
// it. hopeless has the quotes that are known to close nowhere.
func wordEnd(text string, at int, hopeless map[byte]bool) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			break
		}
		end := at + size
		if quote := text[at]; opensQuote(text, at) && !hopeless[quote] {
			end = max(end, quoteEnd(text, at))
			hopeless[quote] = end == at+size
		}
		at = end
	}
	return at
}

// opensQuote says whether a quote opens at a place. Inside of a word, it is a letter.
func opensQuote(text string, at int) bool {
	quote := text[at]
	return (quote == '"' || quote == '\'') && (at == 0 || text[at-1] != '\\' && !isLetter(text[at-1], quote))
}

// quoteEnd returns where the quote ends that opens at a place, 0 for nowhere. An
// apostrophe closes none.
func quoteEnd(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && (quote == '"' || i+1 == len(text) || !isLetter(text[i+1], quote)):
			return i + 1
		}
	}
	return 0
}

// isLetter says whether a quote beside b is an apostrophe or a measure in inches.
func isLetter(b, quote byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= utf8.RuneSelf && quote == '\''
}

// unquote returns what a text says that is one quote as a whole.
func unquote(text string) (value string, ok bool) {
	if text == "" || !opensQuote(text, 0) || quoteEnd(text, 0) != len(text) || text[0] == '\'' && strings.Count(text, "'") > 2 {
		return "", false
	}
	value, _, err := shellWord(text, 0)
	return value, err == nil
}

// Slash is a command that users of agents know as the first word of a text.
type Slash string

// The commands.
const (
	SlashStart  Slash = "/ralph-loop"   // TEXT FLAGS: a start
	SlashCancel Slash = "/cancel-ralph" // ends the folder's loop
	SlashHelp   Slash = "/ralph-help"
)

// SlashOf returns the command that a text begins with, "" for none.
func SlashOf(text string) Slash {
	text = strings.TrimSpace(text)
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	switch word := Slash(text); word {
	case SlashStart, SlashCancel, SlashHelp:
		return word
	}
	return ""
}

// FromWords reads the words of a shell's command line: the prompt, or a text as
// Parse reads it where they begin with a command.
func FromWords(words []string) (Request, error) {
	text := strings.Join(words, " ")
	switch word := SlashOf(text); {
	case word == "":
		return Request{Prompt: text}, nil
	case word == SlashStart && words[0] == string(word): // the shell has split the rest
		return Request{Prompt: strings.Join(words[1:], " ")}, nil
	}
	return Parse(text)
}

// CheckFile says what is wrong with the prompt in a file: it is taken as it is,
// also one that begins with a command, but a command and nothing else is a mistake.
func CheckFile(name, prompt string) error {
	if word := SlashOf(prompt); word != "" && strings.TrimSpace(prompt) == string(word) {
		return fmt.Errorf("%s says %s and nothing else, which is a command and no task for an agent; write into it what the "+
			"agent should do", name, word)
	}
	return nil
}
