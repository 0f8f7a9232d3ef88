package sandbox

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// Signs of a login in a file of settings: a word for it, a URL with a name and a password,
// or something that is no word at all. A name alone before a host is how ssh is told it.
var (
	loginWord = lazy.Regexp(`(?i)auth\b|_auth|authoriz|authident|token|passw|passphrase|secret|credential|extraheader|bearer` +
		`|api_?key|access_?key|private_?key|helper|\b_?key\b *[=:]|pwd|cookie`)
	loginURL = lazy.Regexp(`(?i)://[^/\s@]+:[^/\s@]*@|https?://[^/\s@]+@`)
	noWord   = lazy.Regexp(`[A-Za-z0-9+]{24,}`)
	digit    = lazy.Regexp(`\d`)
	letter   = lazy.Regexp(`[A-Za-z]`)
	// inXML are the elements of Maven's settings for them.
	inXML = lazy.Regexp(`(?s)<servers>.*?</servers>|<password>.*?</password>|<passphrase>.*?</passphrase>` +
		`|<privateKey>.*?</privateKey>|<username>.*?</username>|<properties>.*?</properties>|<!--.*?-->`)
)

// stripLogins returns a file of settings without the lines that may have logins, and their continuations.
func stripLogins(content []byte) []byte {
	if bytes.HasPrefix(bytes.TrimLeft(content, "\ufeff \t\r\n"), []byte("<")) {
		content = inXML().ReplaceAll(content, nil)
	}
	var kept []string
	isOut, goesOn, indent := false, false, 0
	for line := range strings.Lines(string(content)) {
		text := strings.TrimSpace(line)
		deep := len(line) - len(strings.TrimLeft(line, " \t"))
		isPart := isOut && (goesOn || deep > indent && text != "" && text[0] != '[' && text[0] != '<')
		if isOut = isPart || mayBeLogin(text); !isOut {
			kept = append(kept, line)
		} else if !isPart {
			indent = deep
		}
		goesOn = strings.HasSuffix(text, `\`)
	}
	return []byte(strings.Join(kept, ""))
}

func mayBeLogin(line string) bool {
	if strings.HasPrefix(line, "[") && !strings.Contains(line, "=") && !loginURL().MatchString(line) { // a section
		return false
	}
	return loginWord().MatchString(line) || loginURL().MatchString(line) ||
		slices.ContainsFunc(noWord().FindAllString(line, -1),
			func(word string) bool { return digit().MatchString(word) && letter().MatchString(word) })
}

// isWithoutLogins says whether a file of settings has no logins.
func isWithoutLogins(path string) bool {
	content, err := readBounded(path, maxPlain)
	return err == nil && bytes.Equal(content, stripLogins(content))
}
