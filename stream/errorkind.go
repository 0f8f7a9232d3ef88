package stream

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// Retryable says whether the same request may succeed later.
func (k ErrorKind) Retryable() bool {
	return slices.Contains([]ErrorKind{KindRateLimit, KindQuota, KindOverloaded, KindNetwork, KindServer}, k)
}

// ClassifyError says what an error of an agent or its model means. status is
// the HTTP status, 0 if it isn't known; text is the error's own text, never a
// tool's output or what the model says. now is what the times in it refer to.
//
// The text may begin with the status and may hold the provider's JSON, as in
// `429 {"error":{"type":"rate_limit_error","message":"..."}}`; the Message of
// the result is then `429 ...`.
func ClassifyError(status int, text string, now time.Time) Error {
	text = strings.TrimSpace(text)
	e := Error{Message: text}
	rest := text
	if s, after, ok := leadingStatus(text); ok {
		rest = after
		if status == 0 {
			status = s
		}
		if message := providerMessage(after); message != "" {
			e.Message = strconv.Itoa(s) + " " + message
		}
	} else if message := providerMessage(text); message != "" {
		e.Message = message
	}
	e.Kind = kindOf(status, rest)
	if e.Kind.Retryable() {
		e.ResetsAt = resetTime(rest, now)
	}
	return e
}

// leadingStatus splits "429 ..." or "429: ...".
func leadingStatus(text string) (status int, rest string, ok bool) {
	if len(text) < 3 || len(text) > 3 && text[3] != ' ' && text[3] != ':' {
		return 0, "", false
	}
	n, err := strconv.Atoi(text[:3])
	if err != nil || n < 400 || n > 599 {
		return 0, "", false
	}
	return n, strings.TrimLeft(text[3:], ": "), true
}

// providerMessage returns error.message of a provider's JSON answer, "" for
// any other text.
func providerMessage(text string) (message string) {
	c := jsoncursor.New([]byte(text))
	if c.Peek() != '{' {
		return ""
	}
	c.Members("error", func() { c.Members("message", &message) })
	if !c.Done() {
		return ""
	}
	return message
}

// kindPatterns sort the errors that come without a telling status.
var kindPatterns = []struct {
	kind    ErrorKind
	pattern func() *regexp.Regexp
}{
	{KindAuth, lazy.Regexp(`(?i)api[ _-]?key|authenticat|unauthorized|permission_error|not logged in|/login|` +
		`oauth token|credentials|forbidden`)},
	{KindAborted, lazy.Regexp(`(?i)\baborted\b|\bretry cancell?ed\b|interrupted by user`)},
	{KindRequest, lazy.Regexp(`(?i)prompt[ _]is[ _]too[ _]long|context (window|length)|invalid[ _]request|` +
		`not_found_error|model not found|billing|refused to complete`)},
	{KindNetwork, lazy.Regexp(`(?i)\b(econn(refused|reset|aborted)|enotfound|etimedout|eai_again|ehostunreach|enetunreach|enetdown)\b|` +
		`connection (error|refused|reset)|(unable|failed) to connect|could ?n.t connect|network|getaddrinfo|no such host|no ` +
		`route to host|fetch failed`)},
	{KindServer, lazy.Regexp(`(?i)server[ _]error|\bapi_error\b|internal error|bad gateway|gateway timeout|` +
		`terminated|connection|socket|timed? ?out|` +
		`(stream|body|response) (has )?ended|ended (early|before|without|unexpectedly)|premature|unexpected eof|hang up`)},
}

func kindOf(status int, text string) ErrorKind {
	switch {
	case status == 429 && !KindQuota.notes(text):
		return KindRateLimit
	case status == 529:
		return KindOverloaded
	case KindQuota.notes(text):
		return KindQuota
	case KindRateLimit.notes(text):
		return KindRateLimit
	case status == 402:
		return KindQuota
	case status == 503, status >= 500 && KindOverloaded.notes(text):
		return KindOverloaded
	case status == 401, status == 403:
		return KindAuth
	case status == 408, status >= 500:
		return KindServer
	case status >= 400:
		return KindRequest
	}
	if KindOverloaded.notes(text) {
		return KindOverloaded
	}
	for _, p := range kindPatterns {
		if p.pattern().MatchString(text) {
			return p.kind
		}
	}
	return KindOther
}
