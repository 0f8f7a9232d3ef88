package stream

import (
	"regexp"
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

// timeForm is a way to say when a limit ends.
type timeForm struct {
	like    string // an example
	pattern func() *regexp.Regexp
	read    func(parts []string, now time.Time) time.Time // the zero time is none
}

// lead is what stands before a time that is meant.
const lead = `(?i)\b(?:resets?|try again|retry|retrying|regain access|available)\b`

// timeForms are tried in this order; testdata/notices.tsv has who says what.
var timeForms = []timeForm{
	{"limit reached|1795190000", lazy.Regexp(`(?:limit reached\||"resets_?at" ?: ?)(\d{10}|\d{13})\b`), readUnix},
	{"try again in ~1 hour 20 minutes", lazy.Regexp(
		lead + `[^.\n]{0,30}?\b(?:in|after)[ :=]+~?((?:\d+(?:\.\d+)?\s*[a-z]+[ ,]*(?:and )?)+)`), readDuration},
	{`"resets_in_seconds":3600`, lazy.Regexp(`(?i)\b(?:resets_in_seconds|retry[-_ ]after)"?[ :=]+"?(\d{1,7})\b`), readSeconds},
	{`"retryDelay":"38s"`, lazy.Regexp(`(?i)"?retry_?delay"?[ :=]+"?((?:\d+(?:\.\d+)?[a-z]+)+)`), readDuration},
	{"resets at 2026-12-01 00:00 UTC", lazy.Regexp(lead + `(?: again)?(?: at| on)? "?` +
		`(\d{4}-\d{2}-\d{2})(?: at |T| )(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)? ?(UTC|GMT|Z|[+-]\d{2}:?\d{2})?`), readDate},
	{"resets Dec 2nd, 2026, 9:30am (Europe/Berlin)", lazy.Regexp(lead + `(?: again)?(?: at| on)? ` +
		`(?:(?:on )?([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?(?: at)? )?` +
		`(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*(am|pm)?\b(?: ?\(?([A-Z][A-Za-z_]+(?:/[A-Za-z_+-]+)+|UTC|GMT)\)?)?`), readClock},
}

// resetTime returns when a limit ends according to an error's text; the zero time if it doesn't say. Times without a
// zone are in now's.
func resetTime(text string, now time.Time) time.Time {
	for _, form := range timeForms {
		if parts := form.pattern().FindStringSubmatch(text); parts != nil {
			if t := form.read(parts[1:], now); !t.IsZero() {
				return t
			}
		}
	}
	return time.Time{}
}

// readUnix reads the seconds, or milliseconds, since 1970.
func readUnix(parts []string, now time.Time) time.Time {
	n, _ := strconv.ParseInt(parts[0], 10, 64) // 10 or 13 digits always fit
	if len(parts[0]) == 13 {
		return time.UnixMilli(n).In(now.Location())
	}
	return time.Unix(n, 0).In(now.Location())
}

func readSeconds(parts []string, now time.Time) time.Time {
	return now.Add(spokenDuration(parts[0] + "s"))
}

func readDuration(parts []string, now time.Time) time.Time {
	if d := spokenDuration(parts[0]); d > 0 {
		return now.Add(d)
	}
	return time.Time{}
}

// readDate reads a date as ISO 8601 has it, a time, and a zone where there is one.
func readDate(parts []string, now time.Time) time.Time {
	clock, zone := parts[1], strings.Replace(parts[2], ":", "", 1)
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	switch strings.ToUpper(zone) {
	case "":
		t, _ := time.ParseInLocation(time.DateTime, parts[0]+" "+clock, now.Location())
		return t
	case "UTC", "GMT", "Z":
		zone = "+0000"
	}
	t, _ := time.Parse(time.DateTime+"-0700", parts[0]+" "+clock+zone)
	return t
}

var durationPart = lazy.Regexp(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)

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

// readClock reads a month's name, day, year, hour, minute, am or pm, and zone, of which only the hour is always there.
func readClock(parts []string, now time.Time) time.Time {
	month, day, year, zone := parts[0], parts[1], parts[2], parts[6]
	hour, minute, ok := clockHour(parts[3], parts[4], strings.ToLower(parts[5]))
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
	if y, err := strconv.Atoi(year); err == nil {
		return time.Date(y, m.Month(), d, hour, minute, 0, 0, at.Location())
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
