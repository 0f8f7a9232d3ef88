package stream

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// Retryable says whether the same request may succeed later.
func (k ErrorKind) Retryable() bool {
	return k == KindRateLimit || k == KindOverloaded || k == KindServer
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

// limitPattern matches what providers and agents say when a quota is used up.
// It beats the status, because some of them say it with a 400 or 403.
var limitPattern = lazy.Regexp(`(?i)rate[ _-]?limit|too many requests|` +
	`(usage|session|weekly|daily|hourly|5-hour|spend|spending|request|token)s?[ _-]limit|` +
	`hit your (\w+ ){0,2}limit|reached your (\w+ ){0,3}limit|quota (exceeded|exhausted|reached)|` +
	`exceeded your (\w+ ){0,2}quota|insufficient_quota|resource_exhausted`)

// overloadPattern matches what providers say that have no room at the moment.
var overloadPattern = lazy.Regexp(`(?i)overloaded|at capacity|service unavailable`)

// kindPatterns sort the errors that come without a telling status.
var kindPatterns = []struct {
	kind    ErrorKind
	pattern func() *regexp.Regexp
}{
	{KindOverloaded, overloadPattern},
	{KindAuth, lazy.Regexp(`(?i)api[ _-]?key|authenticat|unauthorized|permission_error|not logged in|/login|` +
		`oauth token|credentials|forbidden`)},
	{KindAborted, lazy.Regexp(`(?i)\baborted\b|\bretry cancell?ed\b|interrupted by user`)},
	{KindRequest, lazy.Regexp(`(?i)prompt[ _]is[ _]too[ _]long|context (window|length)|invalid[ _]request|` +
		`not_found_error|model not found|credit balance|billing|refused to complete`)},
	{KindServer, lazy.Regexp(`(?i)server[ _]error|\bapi_error\b|internal error|bad gateway|gateway timeout|` +
		`terminated|connection|network|socket|econn|enotfound|etimedout|eai_again|fetch failed|timed? ?out|` +
		`(stream|body|response) (has )?ended|ended (early|before|without|unexpectedly)|premature|unexpected eof|hang up`)},
}

func kindOf(status int, text string) ErrorKind {
	switch {
	case status == 429:
		return KindRateLimit
	case status == 529:
		return KindOverloaded
	case limitPattern().MatchString(text):
		return KindRateLimit
	case status == 503, status >= 500 && overloadPattern().MatchString(text):
		return KindOverloaded
	case status == 401, status == 403:
		return KindAuth
	case status == 408, status >= 500:
		return KindServer
	case status >= 400:
		return KindRequest
	}
	for _, p := range kindPatterns {
		if p.pattern().MatchString(text) {
			return p.kind
		}
	}
	return KindOther
}
