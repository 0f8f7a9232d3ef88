package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What a loop has to account for is of all its runs, whichever processes drove it.
func TestAnAccountIsOfTheWholeLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		refused := says("no")
		refused.result.Denials, refused.result.ToolCalls = []stream.Denial{{Tool: "Bash", Detail: "git push"}}, 1
		warned := func(c *setup.Config) { c.Warnings = []string{"it is late"} }
		r := start(t, warned, refused, fails(stream.KindServer, "500"), withTime(says("no"), time.Hour))
		time.Sleep(time.Minute) // the third runs
		left := r.killed()
		r, err := tryStart(t, &left, func(c *setup.Config) { *c = goesOn(*c); warned(c) }, refused, says("<promise>DONE</promise>"))
		must.OK(t, err)
		end := r.Wait()
		const want = "{{[{500 1} {" + loop.CutOff + " 1}] 0} {[{Bash git push 2}] 0} {[{it is late 2}] 0} {[] 0} {[] 0} {[] 0} {[] 0} {[] 0} {[] 0}}"
		if got := fmt.Sprint(end.Account); end.Reason != loop.StopPromise || got != want {
			t.Errorf("%s: got %s, want %s", end.Reason, got, want)
		}
		if end.Unknown != 5 {
			t.Errorf("%d runs of unknown cost, and not 5 with the one that was cut off", end.Unknown)
		}
		if last, ok := loop.LastIn(r.cfg.Folder); !ok || fmt.Sprint(last.Account) != want || last.Prompt != end.Prompt || end.Prompt != left.Prompt {
			t.Errorf("it is told later as %+v", last)
		}
	})
}
