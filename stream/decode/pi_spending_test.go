package decode

import (
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Lines of a tool that spends money.
func piToolStart(id string) string {
	return `{"type":"tool_execution_start","toolCallId":"` + id + `","toolName":"delegate","args":{}}`
}

func piToolUpdate(id, more string) string {
	return `{"type":"tool_execution_update","toolCallId":"` + id + `","partialResult":{"content":[]` + more + `}}`
}

func piToolEnd(id, more string) string {
	return `{"type":"tool_execution_end","toolCallId":"` + id + `","result":{"content":[]` + more + `},"isError":false}`
}

func piToolMessage(id, more string) string {
	return `{"type":"message_end","message":{"role":"toolResult","toolCallId":"` + id + `","content":[]` + more + `}}`
}

// piListed is what pi's example of a subagent tool reports.
func piListed(costs ...string) string {
	list := ""
	for i, cost := range costs {
		if i > 0 {
			list += ","
		}
		list += `{"agent":"a","messages":[{"usage":{"input":7,"cost":7}}],"usage":{"input":10,"output":5,"cacheRead":100,"cacheWrite":1,"cost":` + cost + `,"turns":3}}`
	}
	return `,"details":{"mode":"single","results":[` + list + `]}`
}

func TestPiCountsWhatToolsSpend(t *testing.T) {
	const mainTurn, toolTokens = 0.25, 116
	for name, tt := range map[string]struct {
		tools []string // lines between the message and the end of its turn
		usd   float64  // of the tools
		calls int64    // how often their tokens count
	}{
		"a usage of its own":                 {[]string{piToolEnd("t1", piCost("2")), piToolMessage("t1", piCost("2"))}, 2, 1},
		"only at the end of the tool":        {[]string{piToolEnd("t1", piCost("2"))}, 2, 1},
		"only in the message":                {[]string{piToolEnd("t1", ""), piToolMessage("t1", piCost("2"))}, 2, 1},
		"the message has the last word":      {[]string{piToolEnd("t1", piCost("2")), piToolMessage("t1", piCost("3"))}, 3, 1},
		"a message that says nothing":        {[]string{piToolEnd("t1", piCost("2")), piToolMessage("t1", "")}, 2, 1},
		"listed":                             {[]string{piToolEnd("t1", piListed("2", "3")), piToolMessage("t1", piListed("2", "3"))}, 5, 2},
		"listed and its own":                 {[]string{piToolEnd("t1", piListed("2")+piCost("2")), piToolMessage("t1", piCost("2")+piListed("2"))}, 2, 1},
		"more and more":                      {[]string{piToolUpdate("t1", piListed("1")), piToolUpdate("t1", piListed("1", "2")), piToolEnd("t1", piListed("1", "4"))}, 5, 2},
		"stopped in its midst":               {[]string{piToolUpdate("t1", piListed("1")), piToolEnd("t1", "")}, 1, 1},
		"two at once":                        {[]string{piToolEnd("t1", piCost("2")), piToolEnd("t2", piCost("0.5")), piToolMessage("t1", piCost("2")), piToolMessage("t2", piCost("0.5"))}, 2.5, 2},
		"tokens of which no cost is known":   {[]string{piToolEnd("t1", `,"usage":{"input":10,"output":5,"cacheRead":100,"cacheWrite":1}`)}, 0, 1},
		"a cost of which no tokens are said": {[]string{piToolEnd("t1", `,"usage":{"cost":{"total":2}}`)}, 2, 0},
		"nothing":                            {[]string{piToolEnd("t1", ""), piToolMessage("t1", "")}, 0, 0},
		"something else":                     {[]string{piToolEnd("t1", `,"usage":"much","details":{"results":7,"usage":{"input":3}}`), piToolEnd("t2", `,"details":[]`)}, 0, 0},
		"less than nothing":                  {[]string{piToolEnd("t1", piCost("-2"))}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{piMessageBegin, piLine("message_end", "toolUse", piCost("0.25"), "x"), piToolStart("t1")}, tt.tools...)
			cut, _ := decodeLines(t, FormatPi, lines...)
			lines = append(lines, piLine("turn_end", "toolUse", piCost("0.25"), "x"), // another turn takes the same id for another call
				piMessageBegin, piLine("message_end", "toolUse", piCost("0.25"), "y"), piToolStart("t1"), piToolEnd("t1", piCost("4")),
				piToolMessage("t1", piCost("4")), piLine("turn_end", "toolUse", piCost("0.25"), "y"), piAgentEnd, piSettled)
			events, result := decodeLines(t, FormatPi, lines...)
			want := tt.usd + 4 + 2*mainTurn
			if got := result.Usage.Cost.USD; got != want {
				t.Errorf("it cost $%v, want $%v", got, want)
			}
			if got := result.Usage.Tokens.Total(); got != (tt.calls+3)*toolTokens {
				t.Errorf("%d tokens, want %d", got, (tt.calls+3)*toolTokens)
			}
			if result.Usage.Context != toolTokens {
				t.Errorf("the context has %d tokens, want those of the last turn", result.Usage.Context)
			}
			for i, e := range only[stream.Usage](events) {
				if before := only[stream.Usage](events)[max(i-1, 0)]; e.Cost.USD < before.Cost.USD || i > 0 && e == before {
					t.Errorf("usage %d is %+v after %+v", i, e, before)
				}
			}
			// What a run that is cut off has spent counts, its own turn's included.
			if got := cut[len(cut)-1].(stream.Complete).Result.Usage.Cost.USD; got != tt.usd+mainTurn {
				t.Errorf("cut off it cost $%v, want $%v", got, tt.usd+mainTurn)
			}
		})
	}
}

// What a model call has cost is told with its message, before its tools run: they may
// take an hour, and nobody may be left to hear of the end of their turn. It counts once,
// whoever repeats it.
func TestPiTellsAModelCallBeforeItsTools(t *testing.T) {
	const call = 116 // tokens
	message := func(cost string) string { return piLine("message_end", "toolUse", cost, "x") }
	turnEnd := func(cost string) string { return piLine("turn_end", "toolUse", cost, "x") }
	agentEnd := `{"type":"agent_end","messages":[` + `{"role":"assistant","content":[]` + piCost("0.25") + `}],"willRetry":false}`
	for name, tt := range map[string]struct {
		lines []string  // behind the beginning of the message
		told  []float64 // dollars
		calls int64     // how many count
	}{
		"in a tool":                        {[]string{message(piCost("0.25")), piToolStart("t1")}, []float64{0.25}, 1},
		"a whole turn":                     {[]string{message(piCost("0.25")), piToolStart("t1"), piToolEnd("t1", ""), turnEnd(piCost("0.25")), agentEnd, piSettled}, []float64{0.25}, 1},
		"two turns":                        {[]string{message(piCost("0.25")), turnEnd(piCost("0.25")), piMessageBegin, message(piCost("0.5")), turnEnd(piCost("0.5")), agentEnd}, []float64{0.25, 0.75}, 2},
		"the turn has the last word":       {[]string{message(piCost("0.25")), turnEnd(piCost("0.5"))}, []float64{0.25, 0.5}, 1},
		"a turn that says nothing":         {[]string{message(piCost("0.25")), turnEnd("")}, []float64{0.25}, 1},
		"only the turn says it":            {[]string{message(""), turnEnd(piCost("0.25"))}, []float64{0.25}, 1},
		"no end of the turn, another call": {[]string{message(piCost("0.25")), piMessageBegin, message(piCost("0.5")), turnEnd(piCost("0.5"))}, []float64{0.25, 0.75}, 2},
		"a call that failed":               {[]string{piLine("message_end", "error", piFailure("500")+piCost("0.25")), piLine("turn_end", "error", piFailure("500")+piCost("0.25"))}, []float64{0.25}, 1},
		"with a tool that spends":          {[]string{message(piCost("0.25")), piToolStart("t1"), piToolEnd("t1", piCost("2")), turnEnd(piCost("0.25"))}, []float64{0.25, 2.25}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			events, result := decodeLines(t, FormatPi, append([]string{piMessageBegin}, tt.lines...)...)
			var told []float64
			for _, u := range only[stream.Usage](events) {
				told = append(told, u.Cost.USD)
			}
			if !slices.Equal(told, tt.told) {
				t.Errorf("told $%v, want $%v", told, tt.told)
			}
			if got := result.Usage; got.Tokens.Total() != tt.calls*call || got.Context != call {
				t.Errorf("used %+v, want %d calls", got, tt.calls)
			}
			isUsage := func(e stream.Event) bool { _, ok := e.(stream.Usage); return ok }
			isTool := func(e stream.Event) bool { _, ok := e.(stream.ToolCall); return ok }
			if tool := slices.IndexFunc(events, isTool); tool >= 0 && slices.IndexFunc(events, isUsage) > tool {
				t.Errorf("told behind the call: %+v", events)
			}
		})
	}
}

// What a tool has used is told as soon as it says so, not at the end of its turn.
func TestPiTellsWhatToolsSpendAtOnce(t *testing.T) {
	for name, line := range map[string]string{
		"while it runs": piToolUpdate("t1", piListed("2")),
		"at its end":    piToolEnd("t1", piCost("2")),
		"its message":   piToolMessage("t1", piCost("2")),
	} {
		var told []stream.Usage
		d := &piDecoder{}
		for _, l := range []string{piMessageBegin, piLine("message_end", "toolUse", "", "x"), piToolStart("t1"), line} {
			must.OK(t, d.Decode([]byte(l), func(e stream.Event) { told = append(told, only[stream.Usage]([]stream.Event{e})...) }))
		}
		if len(told) != 1 || told[0].Cost != stream.USD(2) {
			t.Errorf("%s: told %+v", name, told)
		}
	}
}

// pi keeps the provider's cache warm beside the turns, and pays for that.
func TestPiCountsWhatIsSpentBesideTheTurns(t *testing.T) {
	entry := func(kind, more string) string {
		return `{"type":"entry_appended","entry":{"type":"` + kind + `","id":"e1"` + more + `}}`
	}
	events, result := decodeLines(t, FormatPi, piMessageBegin, entry("usage", piCost("2")), entry("custom", piCost("4")), entry("usage", ""),
		piLine("message_end", "stop", piCost("0.25"), "x"), piLine("turn_end", "stop", piCost("0.25"), "x"), piSettled)
	if got := result.Usage; got.Cost != stream.USD(2.25) || got.Tokens.Total() != 232 || got.Context != 116 {
		t.Errorf("it used %+v", got)
	}
	if n := len(only[stream.Usage](events)); n != 2 {
		t.Errorf("%d usage events, want 2", n)
	}
	_, result = decodeLines(t, FormatPi, `{"type":"entry_appended","entry":{"type":"usage","usage":{"cost":`)
	if result.SkippedLines != 1 {
		t.Error("a broken entry isn't skipped")
	}
}
