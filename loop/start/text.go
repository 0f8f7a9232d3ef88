package start

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// Request is a start in the words of its user.
type Request struct {
	Options
	Prompt string // "" when only flags were given
}

// Parse reads the text of a start, as an editor's command line sends it:
//
//	/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20
//
// The leading /ralph-loop may be missing. Flags are those of ralph-lsp run and
// stand anywhere before "--"; an unknown one is an error, never prompt text.
// Quotes work as in a shell, and nothing else does: no variables, no comments,
// no operators. Unquoted words of the prompt keep the white space between them.
func Parse(text string) (Request, error) {
	words, err := split(text)
	if err != nil {
		return Request{}, err
	}
	if len(words) > 0 && words[0].value == "/ralph-loop" {
		words = words[1:]
	}
	var r Request
	var limits Limits
	flags := pflag.NewFlagSet("/ralph-loop", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	r.Agent.AddFlags(flags)
	limits.AddFlags(flags)
	flags.BoolVar(&r.Quiet, "no-instruct", false, "")
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = w.value
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return Request{}, errors.New("--help is no flag of a start; ask for ralph.help")
		}
		return Request{}, FlagError(flags, err, "see ralph.help", " (text that begins with - goes behind --)")
	}
	r.Limits = limits.Patch(flags)
	r.Prompt = join(words, flags.Args())
	return r, nil
}

// word is one word of a text, with the white space in front of it.
type word struct{ value, before string }

// join puts the words of the prompt together again. Neighbours keep the white
// space that was between them; where a flag stood between two, it is one blank.
func join(words []word, prompt []string) string {
	var b strings.Builder
	at := -1 // of the last word that was found
	for n, value := range prompt {
		next := at + 1
		for words[next].value != value {
			next++
		}
		switch {
		case n == 0:
		case next == at+1:
			b.WriteString(words[next].before)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(value)
		at = next
	}
	return b.String()
}

// split cuts text into words as a shell does, with its quotes and nothing else.
func split(text string) ([]word, error) {
	var words []word
	var current strings.Builder
	var space strings.Builder
	inWord, escaped := false, false
	var quote rune
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' { // inside, only these can be escaped
				current.WriteByte('\\')
			}
			current.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			current.WriteRune(r)
		case r == '"' || r == '\'':
			inWord, quote = true, r
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word{current.String(), space.String()})
				current.Reset()
				space.Reset()
				inWord = false
			}
			space.WriteRune(r)
		default:
			inWord = true
			current.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is opened and never closed; close it, or write \\%c for the character itself", quote, quote)
	case escaped:
		return nil, errors.New("the text ends with a backslash; write \\\\ for the character itself")
	case inWord:
		words = append(words, word{current.String(), space.String()})
	}
	return words, nil
}
