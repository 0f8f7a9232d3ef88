package history

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Issue is an issue of a forge that a prompt was made of.
type Issue struct {
	Title  string // one line; "" where the prompt has words of its user's instead
	Source string // its address, a file, or "standard input"; one line
}

const (
	resolve   = "Resolve "
	issueFrom = "The quote below is an issue, from "
)

// Head is how a prompt begins that has the issue as a quote below.
func (i Issue) Head() string {
	head := issueFrom + i.Source + ".\n"
	if i.Title != "" {
		head = resolve + strconv.Quote(i.Title) + ".\n\n" + head
	}
	return head
}

// IssueOf is the issue that a prompt was made of, as Head says it.
func IssueOf(prompt string) (i Issue, ok bool) {
	before, after, ok := strings.Cut(prompt, issueFrom)
	if !ok || before != "" && !strings.HasSuffix(before, "\n\n") {
		return i, false
	}
	i.Source, _, ok = strings.Cut(after, ".\n")
	if title, isOurs := strings.CutPrefix(strings.TrimSuffix(before, ".\n\n"), resolve); ok && isOurs {
		i.Title, _ = strconv.Unquote(title)
	}
	return i, ok && !strings.Contains(i.Source, "\n")
}

// The addresses of issues: GitHub's, a company's own GitHub's, and GitLab's.
var (
	ofGitHub = lazy.Regexp(`^https?://[\w.:-]+/([\w.-]+/[\w.-]+)/issues/([0-9]+)$`)
	ofGitLab = lazy.Regexp(`^https?://[\w.:-]+/[\w./-]+/-/issues/[0-9]+$`)
)

// Fixes is the line by which the issue's forge closes it with a pull request; "" where the source is no issue's address.
func (i Issue) Fixes() string {
	if m := ofGitHub().FindStringSubmatch(i.Source); m != nil {
		return fmt.Sprintf("Fixes %s#%s", m[1], m[2])
	}
	if ofGitLab().MatchString(i.Source) {
		return "Closes " + i.Source
	}
	return ""
}

// Title is one line of at most 80 runes: of the issue, or else of what its user wrote.
func Title(prompt string) string {
	if i, ok := IssueOf(prompt); ok {
		words, _, _ := strings.Cut(prompt, issueFrom)
		prompt = cmp.Or(i.Title, words)
	}
	return stream.Line(prompt, 80)
}
