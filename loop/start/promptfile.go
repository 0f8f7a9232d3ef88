package start

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
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

// PromptText is the text of a prompt file in UTF-8, or in UTF-16 with its mark. The error for any other file names the first
// bad place: the agent would get another text than its user wrote.
func PromptText(name string, data []byte) (string, error) {
	switch text := string(data); {
	case strings.HasPrefix(text, "\xFF\xFE"):
		return fromUTF16(name, data[2:], binary.LittleEndian)
	case strings.HasPrefix(text, "\xFE\xFF"):
		return fromUTF16(name, data[2:], binary.BigEndian)
	default:
		if bad, ok := format.FindBadByte(text); ok {
			return "", fmt.Errorf("%s:%d: %s", name, bad.Line, bad)
		}
		if i := strings.IndexByte(text, 0); i >= 0 {
			return "", fmt.Errorf("%s:%d: there is a NUL character (byte %d of the text); save it as UTF-8", name,
				1+strings.Count(text[:i], "\n"), i+1)
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
	if says.Given = state.Given; state.CompletionPromise() == "" {
		says.Promise = nil
	}
	return state.Prompt, says, nil
}

// Asked says where the prompt of a command line comes from.
type Asked struct {
	Words       []string // joined by a blank
	File, Issue string   // "-" is stdin
}

// AddFlags adds its flags to a set.
func (a *Asked) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&a.File, "prompt-file", "", "read the prompt from `FILE`; - is standard input")
	f.StringVar(&a.Issue, "issue", "", "work on the issue in `FILE`, or at an address; gh or glab reads that, - is standard "+
		"input. With a prompt it is context")
	AboutAgent.In(f, false, "prompt-file", "issue")
}

// IsSaid says whether it is from anywhere.
func (a Asked) IsSaid() bool { return len(a.Words) > 0 || a.File != "" || a.Issue != "" }

// NeedsStdin says whether it is read from stdin.
func (a Asked) NeedsStdin() bool { return a.File == "-" || a.Issue == "-" }

// Prompt reads it. Without a prompt it is loop.ErrEmptyPrompt.
func (a Asked) Prompt(ctx context.Context, stdin io.Reader) (string, error) {
	if a.File == "-" && a.Issue == "-" {
		return "", errors.New("--prompt-file - and --issue - both read standard input; give one of them as a file")
	}
	prompt, err := a.words(stdin)
	if a.Issue != "" && (err == nil || errors.Is(err, loop.ErrEmptyPrompt)) {
		return promptOfIssue(ctx, prompt, a.Issue, stdin)
	}
	return prompt, err
}

// words is the prompt without an issue.
func (a Asked) words(stdin io.Reader) (string, error) {
	prompt, err := PromptText("the prompt", []byte(strings.Join(a.Words, " ")))
	switch {
	case err != nil:
		return "", err
	case a.File != "" && len(a.Words) > 0:
		return "", fmt.Errorf("there are two prompts: --prompt-file %s and the words %q; give one of them", a.File, stream.Line(prompt, 100))
	case a.File == "" && strings.TrimSpace(prompt) == "":
		return "", loop.ErrEmptyPrompt
	case a.File == "":
		return prompt, nil
	}
	data, err := readAsked("prompt", a.File, stdin)
	if err != nil {
		return "", err
	}
	return PromptOfFile(a.File, data)
}

// readAsked reads a file that a flag names. What isn't a file, such as a pipe, is read as well.
func readAsked(what, file string, stdin io.Reader) (data []byte, err error) {
	if file == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = regular.ReadAny(file, maxPrompt)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %[1]s file %[2]s; make it, or give another one", what, file)
	case err != nil:
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	}
	return data, nil
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
	data, err := regular.Read(path, maxPrompt)
	if errors.As(err, &regular.SizeError{}) {
		return "", fmt.Errorf("%s has more than %d MiB, too much for a prompt", path, maxPrompt>>20)
	}
	if err != nil {
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	return string(data), nil
}
