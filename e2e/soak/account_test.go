//go:build soak && linux

package soak

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
)

// accounted is what a night of vendors came to, by what they wrote down themselves.
type accounted struct {
	iterations, unknown                         int
	cents                                       int
	failed, refused, unanswered, limits, warned account.List
}

// failures are the words of runs that fail, by who does what.
var failures = map[string]string{
	"claude " + string(limited): "You've hit your limit",
	"pi " + string(limited):     "You have hit your ChatGPT usage limit (plus plan). Try again in ~123 min.",
	"gemini " + string(limited): "You have exhausted your capacity on this model. Your quota will reset after 20h24m17s.",
	string(unreachable):         "API Error: connect ECONNREFUSED 192.0.2.1:443",
	string(cutOff):              "cut off, as the process that drove the loop died; costs that the agent hadn't reported are unknown",
	string(hangs):               `no output for longer than the tool timeout, of "Bash make"`,
	string(lies):                "refuted: test -e finished failed (exit 1)",
}

// accountOf holds that a night went as the script has it, and says what it came to.
func accountOf(t *testing.T, log string) (a accounted) {
	var want strings.Builder
	name := "claude"
	for n := 1; n <= 200; n++ {
		a.iterations++
		for i, isOver := 0, false; !isOver; i++ {
			does := deedOf(n, i)
			want.WriteString(logLine(n, name, does))
			a.add(n, name, does)
			isOver = does != unreachable && does != limited
			if does == limited { // the next one, and behind the last one the user asks the first again
				name = map[string]string{"claude": "pi", "pi": "gemini", "gemini": "claude"}[name]
			}
		}
	}
	isAlike(t, "the vendors", log, want.String())
	for _, change := range []string{
		"1s of silence instead of 10m of silence, 1s of a quiet tool instead of 1h of a quiet tool",
		"10m of silence instead of 1s of silence, 1h of a quiet tool instead of 1s of a quiet tool",
	} {
		a.limits.Add(change + ", by process N (ralph-lsp update), below soak.test")
	}
	return a
}

// add adds a run.
func (a *accounted) add(n int, name string, does deed) {
	a.failed.Add(cmp.Or(failures[name+" "+string(does)], failures[string(does)]))
	switch {
	case does == hangs, does == cutOff, name == "gemini" && does == works:
		a.unknown++
	case does == limited, does == unreachable:
	case name == "claude":
		a.cents++
	default:
		a.cents += 2
	}
	switch does {
	case cutOff:
		a.warned.Add(fmt.Sprintf("iteration %d was cut off: what changed then or since (1 file) counts as its work, but for what you saved in an editor", n))
	case unreachable:
		if a.failed.Items[len(a.failed.Items)-1].Count == 1 {
			a.warned.Add("the provider can't be reached since TIME, so the loop waits for the network; that counts for no limit",
				"the provider is reached again, after TIME")
		}
	case limited:
		a.warned.Add(map[string]string{
			"claude": "pi works until TIME: claude is limited until then", "pi": "gemini works until TIME: claude is limited until then", "gemini": "claude works again",
		}[name])
	case refused:
		a.refused.Add("Bash rm -r build")
	case asks:
		if a.unanswered.IsZero() { // the second question is answered
			a.unanswered.Add("Bash git push")
		}
	case fills:
		a.warned.Add("what becomes of these can't be shown or undone: file-00 (git update-index: unable to write loose object file: No space left on device: exit status 128)")
	}
	if n == 119 { // from here on three commands have the user asked, which only claude can
		for range 3 {
			a.warned.Add(`the fallback pi is left out: pi can't ask you before version 0.80.4: update it, or leave out permissions = "ask"`,
				`the fallback gemini is left out: gemini can't ask you before it does something: choose pi or claude, or leave out permissions = "ask"`)
		}
	}
}

// receipt is what the loop says of all that in the end.
func (a accounted) receipt(folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "no loop in %s; the last one was Build it\n", folder)
	row := func(label, text string) {
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "  %-9s %s\n", label, strings.TrimSuffix(line, "\n"))
			label = ""
		}
	}
	row("ended", "TIME")
	row("result", fmt.Sprintf("done: DONE after %d iterations · $%d.%02d and %d runs of unknown cost · TIME · verified by what the loop changed: finished (added)",
		a.iterations, a.cents/100, a.cents%100, a.unknown))
	row("asked", "Build it")
	row("changed", "21 files changed +20 -20") // each file has a line, and what the check looks for is empty
	row("failed", begin(a.failed))
	row("refused", begin(a.refused))
	row("no answer", begin(a.unanswered))
	row("limits", begin(a.limits))
	row("warned", begin(a.warned))
	b.WriteString("  ralph-lsp changes  shows what it changed\n  ralph-lsp undo --since 1  takes that back\n")
	return b.String()
}

// begin is what a receipt shows of a list.
func begin(l account.List) string {
	const most = 4
	if len(l.Items) <= most {
		return lines(l)
	}
	more := 0
	for _, it := range l.Items[most:] {
		more += it.Count
	}
	return lines(account.List{Items: l.Items[:most]}) + fmt.Sprintf("… %d more\n", more)
}

// lines are those of a list, each with how often it came.
func lines(l account.List) string {
	var b strings.Builder
	for _, it := range l.Items {
		b.WriteString(it.Text)
		if it.Count > 1 {
			fmt.Fprintf(&b, " (%d times)", it.Count)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// varying is what is another time another one, and what stands for it.
var varying = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`\b(since|until) \d\d:\d\d(?::\d\d)?`), "$1 TIME"},
	{regexp.MustCompile(`\b(after) (?:\d+m)?[\d.]+s\b`), "$1 TIME"},
	{regexp.MustCompile(`(·) (?:\d+m)?[\d.]+s\b`), "$1 TIME"},
	{regexp.MustCompile(`\bprocess \d+`), "process N"},
}

// always is a text with nothing that varies.
func always(text string) string {
	for _, v := range varying {
		text = v.what.ReplaceAllString(text, v.as)
	}
	return text
}
