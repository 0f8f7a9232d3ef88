package stream

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the zones in error messages must be known on every machine

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// stale is how long ago a reset time may have been when the error was written.
// A clock time that passed longer ago is meant for tomorrow.
const stale = 5 * time.Minute

// MaxDelay bounds the waiting times that an agent announces.
const MaxDelay = 1000 * time.Hour

var (
	resetIn = lazy.Regexp(`(?i)\b(?:try again|retry|retrying|resets?|available|reset)\b[^.\n]{0,30}?\b(?:in|after)[ :=]+` +
		`((?:\d+(?:\.\d+)?\s*[a-z]+[ ,]*(?:and )?)+)`)
	retryAfter   = lazy.Regexp(`(?i)\bretry[-_ ]after"?[ :=]+"?(\d{1,6})\b`) // the header, in seconds
	durationPart = lazy.Regexp(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
	resetUnix    = lazy.Regexp(`limit reached\|(\d{10}|\d{13})\b`)
	resetClock   = lazy.Regexp(`(?i)\b(?:resets?|try again|regain access|available)(?: again)?(?: at| on)? ` +
		`(?:(?:on )?([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: at)? )?` +
		`(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*(am|pm)?\b(?: ?\(?([A-Z][A-Za-z_]+(?:/[A-Za-z_+-]+)+|UTC|GMT)\)?)?`)
	resetDate = lazy.Regexp(`(?i)\b(?:resets?|try again|regain access|available)(?: again)?(?: at| on)? ` +
		`(\d{4}-\d{2}-\d{2})(?: at |T| )(\d{2}:\d{2})(?::\d{2})?(?:\.\d+)? ?(?:UTC|GMT|Z)`)
)

// resetTime finds out when a limit ends according to an error's text; the zero
// time if it doesn't say. Clock times without a zone are those of now.
func resetTime(text string, now time.Time) time.Time {
	if m := resetUnix().FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // 10 or 13 digits always fit
		if len(m[1]) == 13 {
			return time.UnixMilli(n).In(now.Location())
		}
		return time.Unix(n, 0).In(now.Location())
	}
	if m := resetIn().FindStringSubmatch(text); m != nil {
		if d := spokenDuration(m[1]); d > 0 {
			return now.Add(d)
		}
	}
	if m := retryAfter().FindStringSubmatch(text); m != nil {
		return now.Add(spokenDuration(m[1] + "s"))
	}
	if m := resetDate().FindStringSubmatch(text); m != nil {
		if t, err := time.Parse("2006-01-02 15:04", m[1]+" "+m[2]); err == nil {
			return t
		}
	}
	if m := resetClock().FindStringSubmatch(text); m != nil {
		return clockTime(m[1:], now)
	}
	return time.Time{}
}

// spokenDuration adds up "1 hour 20 minutes", "20s", "6m0s"; 0 if a unit is unknown.
func spokenDuration(text string) (sum time.Duration) {
	for _, part := range durationPart().FindAllStringSubmatch(text, -1) {
		unit := timeUnit(strings.ToLower(part[2]))
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil || unit == 0 {
			break
		}
		sum += time.Duration(min(n*float64(unit), float64(MaxDelay)))
	}
	return min(sum, MaxDelay)
}

func timeUnit(name string) time.Duration {
	switch name {
	case "ms", "msec", "millisecond", "milliseconds":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// clockTime returns the time that is meant by the parts month name, day, hour,
// minute, am or pm, and zone, of which only the hour is always there.
func clockTime(parts []string, now time.Time) time.Time {
	month, day, zone := parts[0], parts[1], parts[5]
	hour, minute, ok := clockHour(parts[2], parts[3], strings.ToLower(parts[4]))
	if !ok {
		return time.Time{}
	}
	at := now
	if zone != "" {
		if loc, err := time.LoadLocation(zone); err == nil {
			at = now.In(loc)
		}
	}
	if month == "" {
		t := time.Date(at.Year(), at.Month(), at.Day(), hour, minute, 0, 0, at.Location())
		if now.Sub(t) > stale {
			t = t.AddDate(0, 0, 1)
		}
		return t
	}
	m, err := time.Parse("Jan", month)
	d, derr := strconv.Atoi(day)
	if err != nil || derr != nil {
		return time.Time{}
	}
	t := time.Date(at.Year(), m.Month(), d, hour, minute, 0, 0, at.Location())
	if now.Sub(t) > 180*24*time.Hour { // said in December, meant for January
		t = t.AddDate(1, 0, 0)
	}
	return t
}

// clockHour reads the numbers of a clock time. A lone number without am or pm
// ("resets 5") is none.
func clockHour(h, m, half string) (hour, minute int, ok bool) {
	hour, err := strconv.Atoi(h)
	if err != nil || m == "" && half == "" {
		return 0, 0, false
	}
	if m != "" {
		if minute, err = strconv.Atoi(m); err != nil {
			return 0, 0, false
		}
	}
	switch {
	case half != "" && (hour < 1 || hour > 12):
		return 0, 0, false
	case half == "pm" && hour != 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	return hour, minute, hour < 24 && minute < 60
}
