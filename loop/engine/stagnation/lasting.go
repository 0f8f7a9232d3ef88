package stagnation

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

const span = `\d+([.,]\d+)?\s?(ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)`

// changing matches what a check prints another way each time: times of day, how long
// something took, temporary files, addresses, ports, and ids of processes and the like.
var changing = lazy.Regexp(strings.Join([]string{
	`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?`,
	`\b\d\d?:\d\d:\d\d([.,]\d+)?\b`,
	`\b` + span + `(\s?` + span + `)*\b`,
	`(/private)?(/var/folders|/var/tmp|/tmp|/dev/shm)/[^\s:'"` + "`" + `,)\]]+`,
	`(?i)[a-z]:\\[^\s'"]*\\te?mp\\[^\s:'"` + "`" + `,)\]]+`,
	`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`,
	`\b0x[0-9a-fA-F]+\b`,
	`(?i)\b(pid|process|goroutine|thread|port|seed|shuffle)[ :=#]+\d+`,
	`(127\.0\.0\.1|localhost|\[::1?\]|0\.0\.0\.0):\d+`,
}, "|"))

// withoutChance is a text without what is new each time.
func withoutChance(text string) string {
	if text == "" {
		return ""
	}
	return strings.Join(strings.Fields(changing().ReplaceAllString(text, "~")), " ")
}
