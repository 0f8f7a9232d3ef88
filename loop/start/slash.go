package start

import (
	"fmt"
	"strings"
	"unicode"
)

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
		return fmt.Errorf("%s says %s and nothing else, which is a command and no task for an agent; write into it what the agent should do", name, word)
	}
	return nil
}
