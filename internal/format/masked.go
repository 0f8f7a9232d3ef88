package format

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// hidden stands for a secret.
const hidden = "***"

// secretName is what names of secrets end in: --api-key, OPENAI_API_KEY, "authToken", x-api-key.
const secretName = `(?:(?:^|[^a-z])(?:key|token|auth|pat|pwd)|(?:api|access|private|secret)[-_]?key|(?:auth|access` +
	`|bearer)[-_]?token|secret|passw(?:or)?d|passphrase|credentials?|authorization)`

var (
	secretFlag  = lazy.Regexp(`(?i)^--?[a-z][\w.-]*$`)
	secretEnd   = lazy.Regexp(`(?i)` + secretName + `$`)
	secretValue = lazy.Regexp(`(?i)(` + secretName + `["']?\s*(?:=|:)\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'].*)`)
)

// Masked returns arguments without the secrets that they name: "--api-key X", "--api-key=X", "KEY=X", "Authorization:
// X", and the same in JSON. A secret without a name can't be told from other texts.
func Masked(args []string) []string {
	masked := slices.Clone(args)
	isNext := false
	for i, arg := range args {
		switch {
		case isNext && !strings.HasPrefix(arg, "--"):
			masked[i], isNext = hidden, false
		default:
			masked[i] = secretValue().ReplaceAllString(arg, "${1}"+hidden)
			isNext = secretFlag().MatchString(arg) && secretEnd().MatchString(arg)
		}
	}
	return masked
}

var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s"'` + "`" + `]+@`)

// WithoutUserinfo replaces names, passwords and tokens in the URLs of a text.
func WithoutUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}***@") }
