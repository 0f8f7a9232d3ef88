package start

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Template is the prompt file that a folder begins with.
//
//go:embed PROMPT.md
var Template string

// TemplateError says that a prompt is still the text that asks for one.
type TemplateError struct{}

func (*TemplateError) Error() string {
	return "the prompt still begins as the template does (\"" + templateBegins() + " ...\"); write over it what the agent should do"
}

func templateBegins() string {
	begins, _, _ := strings.Cut(Template, ":")
	return begins + ":"
}

// CheckTemplate refuses a prompt that nobody has filled in.
func CheckTemplate(prompt string) error {
	if strings.HasPrefix(strings.TrimSpace(prompt), templateBegins()) {
		return &TemplateError{}
	}
	return nil
}

// PromptText is the text that a prompt file holds, whatever an editor saved it as: UTF-8, or
// UTF-16 with its mark. What is neither is refused with its place, as the agent would get
// something else than its user wrote.
func PromptText(name string, data []byte) (string, error) {
	switch text := string(data); {
	case strings.HasPrefix(text, "\xFF\xFE"):
		return fromUTF16(name, data[2:], binary.LittleEndian)
	case strings.HasPrefix(text, "\xFE\xFF"):
		return fromUTF16(name, data[2:], binary.BigEndian)
	default:
		if bad, ok := tell.FindBadByte(text); ok {
			return "", fmt.Errorf("%s:%d: %s", name, bad.Line, bad)
		}
		if i := strings.IndexByte(text, 0); i >= 0 {
			return "", fmt.Errorf("%s:%d: there is a NUL character (byte %d of the text); save it as UTF-8", name, 1+strings.Count(text[:i], "\n"), i+1)
		}
		return strings.TrimPrefix(text, "\uFEFF"), nil
	}
}

func fromUTF16(name string, data []byte, order binary.ByteOrder) (string, error) {
	units := make([]uint16, len(data)/2)
	line := 1
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	for i := 0; i < len(units); i++ {
		switch u := rune(units[i]); {
		case u == '\n':
			line++
		case utf16.IsSurrogate(u) && (i+1 == len(units) || utf16.DecodeRune(u, rune(units[i+1])) == '\uFFFD'):
			return "", fmt.Errorf("%s:%d: half a character of UTF-16 (byte %d of the file); save it as UTF-8", name, line, 2*i+3)
		case utf16.IsSurrogate(u):
			i++
		}
	}
	if len(data)%2 == 1 {
		return "", fmt.Errorf("%s:%d: the file ends in half a character of UTF-16 (byte %d); save it as UTF-8", name, line, len(data)+2)
	}
	return string(utf16.Decode(units)), nil
}

// PromptIn returns the prompt that a file holds: all of it, or what is behind
// the front matter of a state file, with the limits and the promise
// there. The error is a loopstate.SyntaxError.
func PromptIn(path, content string) (prompt string, says Options, err error) {
	if !strings.HasSuffix(filepath.ToSlash(path), "/"+loopstate.Name) {
		return content, says, nil
	}
	doc, err := loopstate.Parse([]byte(content))
	if err != nil {
		return "", says, err
	}
	state := doc.State()
	says.Limits.Given = state.Given
	if state.CompletionPromise != "" {
		says.Limits.Promise = &state.CompletionPromise
	}
	return state.Prompt, says, nil
}

// ReadPrompt is the prompt that a command line gives: its words joined by a blank, or what a file
// holds, where "-" is stdin. Without either it is loop.ErrEmptyPrompt.
func ReadPrompt(words []string, file string, stdin io.Reader) (string, error) {
	prompt, err := PromptText("the prompt", []byte(strings.Join(words, " ")))
	switch {
	case err != nil:
		return "", err
	case file != "" && len(words) > 0:
		return "", fmt.Errorf("there are two prompts: --prompt-file %s and the words %q; give one of them", file, stream.Line(prompt, 100))
	case file == "" && strings.TrimSpace(prompt) == "":
		return "", loop.ErrEmptyPrompt
	case file == "":
		return prompt, nil
	case file == "-":
		data, err := io.ReadAll(stdin)
		if err != nil {
			return "", fmt.Errorf("reading the prompt from standard input: %w", err)
		}
		return PromptOfFile(file, data)
	}
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no prompt file %s; make it, or give another one with --prompt-file", file)
	case err != nil:
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	return PromptOfFile(file, data)
}

// PromptOfFile is the prompt that a file holds.
func PromptOfFile(file string, data []byte) (string, error) {
	prompt, err := PromptText(file, data)
	if err == nil && strings.TrimSpace(prompt) == "" {
		err = fmt.Errorf("the prompt in %s is empty; write into it what the agent should do", file)
	}
	if err == nil {
		err = CheckFile(file, prompt)
	}
	return prompt, err
}

// maxPrompt is the longest prompt that is read from a file, in bytes.
const maxPrompt = 32 << 20

// ReadText reads a file that a person wrote. The error is fs.ErrNotExist for a
// file that isn't there.
func ReadText(path string) (string, error) {
	data, err := paths.ReadRegular(path, maxPrompt+1)
	if err != nil {
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	if len(data) > maxPrompt {
		return "", fmt.Errorf("%s has more than %d MiB, too much for a prompt", path, maxPrompt>>20)
	}
	return string(data), nil
}
