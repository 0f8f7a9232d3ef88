package start

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

func TestAPromptIsReadAsItsEditorSavedIt(t *testing.T) {
	const text = "Baue das Menü.\n\n🙂 fertig\n"
	for name, file := range map[string]string{
		"UTF-8":                      text,
		"UTF-8 with a mark":          "\uFEFF" + text,
		"UTF-16, little end first":   "\xFF\xFE" + inUTF16(text, false),
		"UTF-16, big end first":      "\xFE\xFF" + inUTF16(text, true),
		"a mark in the text is text": text,
	} {
		if got, err := PromptText("P", []byte(file)); got != text || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// inUTF16 writes a text whose characters outside of the first plane are all 🙂.
func inUTF16(text string, isBig bool) string {
	var b strings.Builder
	put := func(unit uint16) {
		if isBig {
			b.Write([]byte{byte(unit >> 8), byte(unit)})
		} else {
			b.Write([]byte{byte(unit), byte(unit >> 8)})
		}
	}
	for _, r := range text {
		if r == '🙂' {
			put(0xD83D)
			put(0xDE42)
		} else {
			put(uint16(r))
		}
	}
	return b.String()
}

func TestWhatIsNoTextIsRefusedWithItsPlace(t *testing.T) {
	for file, want := range map[string]string{
		"Fix\nthe men\xFC\n":          `P:2: column 8 has the byte 0xFC, which isn't UTF-8 (byte 12 of the text); save it as UTF-8`,
		"\xC3":                        "P:1: column 1 has the byte 0xC3",
		"ü\xFF":                       "P:1: column 2 has the byte 0xFF, which isn't UTF-8 (byte 3",
		"a\n\x00b":                    "P:2: there is a NUL character (byte 3",
		"\xFF\xFEa\x00\n":             "P:1: the file ends in half a character of UTF-16 (byte 5)",
		"\xFF\xFE\n\x00\x3D\xD8a\x00": "P:2: half a character of UTF-16 (byte 5",
		"\xFE\xFF\xDE\x42":            "P:1: half a character of UTF-16 (byte 3",
		"\xFE\xFF\x00a\xD8\x3D":       "P:1: half a character of UTF-16 (byte 5",
		"\xFF\xFE\x3D\xD8\x42\xDE\x3D\xD8\x00\x00": "P:1: half a character of UTF-16 (byte 7",
	} {
		if got, err := PromptText("P", []byte(file)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %q, %v", file, got, err)
		}
	}
}

func FuzzPromptText(f *testing.F) {
	f.Add([]byte("\xFF\xFE\x3D\xD8\x42\xDE"))
	f.Add([]byte("\uFEFFa"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := PromptText("P", data); err == nil && !utf8.ValidString(text) {
			t.Errorf("%q becomes %q", data, text)
		}
	})
}

func TestATemplateIsNoPrompt(t *testing.T) {
	for _, prompt := range []string{Template, "\n\n" + Template, strings.ReplaceAll(Template, "\n", "\r\n"), strings.Replace(Template, "DONE", "READY", 1)} {
		_, _, err := Resolver{Prompt: prompt, Settings: settingsOf(t, ""), Detect: detectPi}.Resolve(t.Context())
		if !errors.As(err, new(*TemplateError)) {
			t.Errorf("%q is taken: %v", prompt, err)
		}
	}
	if _, _, err := (Resolver{Prompt: "Say here what is done", Settings: settingsOf(t, ""), Detect: detectPi}).Resolve(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALoopDoesntGoOnWithAPromptThatIsNoText(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, filepath.FromSlash(loopstate.Name))
	must.Write(t, file, "---\niteration: 3\n---\n\nFix\nthe men\xFC\n")
	if _, err := FoundIn(folder); err == nil || !strings.Contains(err.Error(), "line 2 of the prompt, column 8 has the byte 0xFC") {
		t.Errorf("got %v", err)
	}
}
