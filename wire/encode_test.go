package wire

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

const red = "\x1b[31mred\x1b[0m"

// shown has each kind of field that events have.
type shown struct {
	Plain   string  `json:"plain"`
	Line    string  `json:"line" text:"line"`
	Title   string  `json:"title" text:"title"`
	Share   float64 `json:"share"`
	At      time.Time
	Cost    stream.Cost
	Tokens  stream.Tokens
	Raw     json.RawMessage
	List    []Inner
	Texts   []string `json:"texts" text:"line"`
	Pointer *Inner
	None    *Inner
	Hidden  string `json:"-"`
	Inner
}

type Inner struct{ Text string }

func TestWhatIsShownIsSanitizedWhereverItStands(t *testing.T) {
	event := func() shown {
		return shown{
			Plain: "a\n" + red, Line: "a\n b " + red, Title: strings.Repeat("ü", MaxTitle+1), Share: math.Inf(1), At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
			Cost: stream.USD(0.1).Plus(stream.USD(0.2)), Tokens: stream.Tokens{Input: -1}, Raw: json.RawMessage(`"` + red + `"`), List: []Inner{{red}, {"b"}},
			Texts: []string{red + "\n."}, Pointer: &Inner{red}, Hidden: red, Inner: Inner{red},
		}
	}
	given := event()
	want := shown{
		Plain: "a\nred", Line: "a b red", Title: strings.Repeat("ü", MaxTitle-1) + "…", Cost: stream.USD(0.3), Raw: json.RawMessage(`"` + red + `"`),
		List: []Inner{{"red"}, {"b"}}, Texts: []string{"red ."}, Pointer: &Inner{"red"}, Hidden: red, Inner: Inner{"red"},
	}
	all := cmp.AllowUnexported(shown{})
	if diff := cmp.Diff(want, sanitized(given), all); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(event(), given, all); diff != "" {
		t.Errorf("who emitted it has another one now:\n%s", diff)
	}
}
