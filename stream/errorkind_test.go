package stream

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestClassifyError(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string
		kind   ErrorKind
		want   string // message; "": the text itself
	}{
		{0, `429 {"error":{"message":"rate limited","type":"rate_limit_error"},"type":"error"}`, KindRateLimit, "429 rate limited"},
		{0, `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, KindOverloaded, "529 Overloaded"},
		{0, `401 {"error":{"message":"invalid x-api-key","type":"authentication_error"}}`, KindAuth, "401 invalid x-api-key"},
		{0, `500 {"error":"not the usual form"}`, KindServer, ""},
		{0, "503: Service Unavailable", KindOverloaded, ""},
		{503, "anything", KindOverloaded, ""},
		{500, "Overloaded", KindOverloaded, ""},
		{500, "The model is at capacity", KindOverloaded, ""},
		{400, "overloaded with tools", KindRequest, ""},
		{401, "authentication service unavailable", KindAuth, ""},
		{503, "You've hit your session limit", KindRateLimit, ""},
		{504, "anything", KindServer, ""},
		{0, "404 model: none", KindRequest, ""},
		{0, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, KindOverloaded, "Overloaded"},
		{0, "4040 errors", KindOther, ""},
		{429, "anything", KindRateLimit, ""},
		{529, "anything", KindOverloaded, ""},
		{502, "anything", KindServer, ""},
		{403, "anything", KindAuth, ""},
		{400, "anything", KindRequest, ""},
		{400, "You have reached your specified API usage limits.", KindRateLimit, ""},
		{0, "You've hit your limit · resets 9am (Europe/Berlin)", KindRateLimit, ""},
		{0, "You've hit your session limit", KindRateLimit, ""},
		{0, "You've hit your individual spend limit", KindRateLimit, ""},
		{0, "Claude AI usage limit reached|1795190000", KindRateLimit, ""},
		{0, "5-hour limit reached", KindRateLimit, ""},
		{0, "rate_limit", KindRateLimit, ""},
		{0, "You exceeded your current quota, please check your plan", KindRateLimit, ""},
		{0, "overloaded", KindOverloaded, ""},
		{0, "server_error", KindServer, ""},
		{0, "authentication_failed", KindAuth, ""},
		{0, "Not logged in · Please run /login", KindAuth, ""},
		{0, "No API key found for anthropic.", KindAuth, ""},
		{0, "terminated", KindServer, ""},
		{0, "connect ECONNREFUSED 127.0.0.1:1", KindNetwork, ""},
		{0, "Connection error.", KindNetwork, ""},
		{0, "API Error: Unable to connect to API (ECONNREFUSED)", KindNetwork, ""},
		{0, "getaddrinfo ENOTFOUND api.example.com", KindNetwork, ""},
		{0, "socket closed", KindServer, ""},
		{0, "Anthropic stream ended before message_stop", KindServer, ""},
		{0, "Request was aborted.", KindAborted, ""},
		{0, "Prompt is too long", KindRequest, ""},
		{0, "Reached maximum number of turns (2)", KindOther, ""},
		{0, "  something new \n", KindOther, "something new"},
		{0, "", KindOther, ""},
	} {
		e := ClassifyError(tt.status, tt.text, time.Now())
		want := tt.want
		if want == "" {
			want = tt.text
		}
		if e.Kind != tt.kind || e.Message != want {
			t.Errorf("ClassifyError(%d, %q) = %q of kind %q, want %q of kind %q", tt.status, tt.text, e.Message, e.Kind, want, tt.kind)
		}
	}
}

func TestResetTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(t, err)
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, berlin) // 13:00 UTC, 22:00 in Tokyo
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, berlin) }
	for text, want := range map[string]time.Time{
		"You've hit your limit · resets 9am (Europe/Berlin)":               at(21, 9, 0),
		"You've hit your session limit · resets 3:30pm":                    at(20, 15, 30),
		"Your limit will reset at 7pm (Asia/Tokyo).":                       at(21, 11, 0),
		"usage limit: resets at 15:30":                                     at(20, 15, 30),
		"rate limit, resets 1:58pm":                                        at(20, 13, 58), // just over
		"rate limit, resets 1:50pm":                                        at(21, 13, 50),
		"rate limit, resets 12am":                                          at(21, 0, 0),
		"rate limit, resets 12pm (UTC)":                                    at(21, 13, 0),
		"weekly limit · resets Nov 23, 9am (Europe/Berlin)":                at(23, 9, 0),
		"weekly limit · resets on November 23rd at 9am":                    at(23, 9, 0),
		"weekly limit · resets Jan 2, 9am":                                 time.Date(2027, 1, 2, 9, 0, 0, 0, berlin),
		"usage limits. You will regain access on 2026-12-01 at 00:00 UTC.": time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		"Rate limit reached. Please try again in 20s.":                     now.Add(20 * time.Second),
		"Rate limit reached. Please try again in 6m0s. Visit x":            now.Add(6 * time.Minute),
		"rate limit: try again in 1 hour and 20 minutes":                   now.Add(80 * time.Minute),
		"rate limit: retry after 1.5 seconds":                              now.Add(1500 * time.Millisecond),
		"rate limit: resets in 3 hours":                                    now.Add(3 * time.Hour),
		"429 rate limit, retry-after: 30":                                  now.Add(30 * time.Second),
		"Claude AI usage limit reached|1795190000":                         time.Unix(1795190000, 0),
		"Claude AI usage limit reached|1795190000000":                      time.Unix(1795190000, 0),
		"rate limit: try again in 99999999999999999999 days":               now.Add(MaxDelay),
		"rate limit":                              {},
		"rate limit, try again in a moment":       {},
		"rate limit, resets 5":                    {},
		"rate limit, resets 13pm":                 {},
		"rate limit, resets 25:00":                {},
		"rate limit, resets Foo 3, 9am":           {},
		"rate limit, try again in 5 parsecs":      {},
		"rate limit, resets 9am (Middle/Nowhere)": at(21, 9, 0),
	} {
		if got := ClassifyError(429, text, now).ResetsAt; !got.Equal(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestResetTimeIsOnlySoughtWhereWaitingHelps(t *testing.T) {
	if e := ClassifyError(401, "resets 9am", time.Now()); !e.ResetsAt.IsZero() {
		t.Errorf("reset time %v of an authentication error", e.ResetsAt)
	}
}

func FuzzClassifyError(f *testing.F) {
	f.Add(0, `429 {"error":{"message":"resets Nov 23rd, 9:30pm (Europe/Berlin)"}}`)
	f.Add(429, "rate limit: try again in 1 hour and 20.5 minutes")
	f.Add(0, "usage limit reached|9999999999999")
	f.Fuzz(func(t *testing.T, status int, text string) {
		now := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
		if e := ClassifyError(status, text, now); !e.ResetsAt.IsZero() && !e.Kind.Retryable() {
			t.Errorf("%+v: a reset time although waiting doesn't help", e)
		}
	})
}
