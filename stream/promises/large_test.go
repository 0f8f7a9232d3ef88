//go:build !race

package promises

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// TestJudgingIsLinear has texts for which a careless search would take hours.
func TestJudgingIsLinear(t *testing.T) {
	const size = 1 << 16
	begin := time.Now()
	for _, piece := range []string{
		"<promise>", "</promise>", "<promise>x</promise>", "x<promise>DONE</promise>", "<promise>DONE</promise> ", "<promise>LOOP_COMPLETE</promise>",
		"LOOP_COMPLETE ", "xLOOP_COMPLETE", "_", "_LOOP_COMPLETE_", "<!--", "<!-- ", "-->", "<!-- <promise>DONE</promise>", "```\n", "`", "> ", "- ", "1. ",
		"\n", "\r", "*", "🎉", "<event ", "<event x>", "<event/>", "DONE ", "DONE", "a.b.", ". ",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for _, in := range []string{text, text + "<promise>DONE</promise>", "<promise>DONE</promise>" + text, "LOOP_COMPLETE" + text, text + "LOOP_COMPLETE"} {
			for _, promise := range []string{"", "_", "DONE DONE"} {
				Completion{Promise: promise, Echo: []string{piece + piece + "x"}}.Judge(stream.Result{Text: in})
			}
		}
		Promises(text)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}
