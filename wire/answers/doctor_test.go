package answers

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A doctor begins with one verdict, and what is wrong comes before what is in order.
func TestADoctorBeginsWithItsVerdict(t *testing.T) {
	agent := Check{ID: "backend", OK: true, Message: "pi is used"}
	missing := Check{ID: "backend.codex", Message: "codex is not installed", Optional: true, Minor: true}
	builtIn := Check{ID: "setting.x", OK: true, Minor: true, Message: "x = 1 (built in)"}
	left := Check{ID: "state", Message: "a loop that was interrupted", Optional: true}
	broken := Check{ID: "folder", Message: "the folder is not writable", Fix: "change its permissions"}
	const good = "loops can run here: pi is used"
	const wrong = "loops can't run here\n · the folder is not writable: change its permissions"
	for name, c := range map[string]struct {
		found  []Check
		class  wire.Class
		want   string
		order  string
		answer string
	}{
		"in order":     {[]Check{missing, builtIn, agent, left}, wire.ClassOK, good, "state backend setting.x backend.codex", good},
		"wrong":        {[]Check{agent, left, broken}, wire.ClassError, "loops can't run here", "folder state backend", wrong},
		"wrong, first": {[]Check{broken, agent}, wire.ClassError, "loops can't run here", "folder backend", wrong},
		"nothing":      {nil, wire.ClassOK, "loops can run here", "", "loops can run here"},
	} {
		got := DoctorResultOf(c.found)
		var ids []string
		for _, check := range got.Checks {
			ids = append(ids, check.ID)
		}
		if got.Text != c.want || got.Class != c.class || strings.Join(ids, " ") != c.order {
			t.Errorf("%s: %+v, in the order %q", name, got.Notice, ids)
		}
		if said := AnswerOf(got); said.Text != c.answer || said.Class != c.class {
			t.Errorf("%s: an editor without results is told %+v", name, said)
		}
	}
}
