package fleet

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestAnUnknownCostCountsAsWhatWasReserved(t *testing.T) {
	w := newWorks(t)
	os.WriteFile(w.log+".free", nil, 0o600)
	w.task.Reserve = 2
	r := w.until(w.submit(), isEnded)
	if r.CostUSD != 0 || !r.CostOpen {
		t.Errorf("it is %+v", r)
	}
	if l, _ := ledger.Whole(t.Context(), w.bus); l.Spent != 6 {
		t.Errorf("three iterations with $2 each are in the ledger as %+v", l)
	}
}

// An agent that normally says what it costs may fail to: a loop that is counted goes on only where somebody knows what
// an iteration costs.
func TestIterationsThatDoNotSayWhatTheyCost(t *testing.T) {
	const end = `end() { echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"text":"'$1'",%s}'; }`
	for name, test := range map[string]struct {
		says    string // of the cost, by the end of iteration $n
		reserve float64
		budget  float64
		phase   Phase
		n       int
		spent   float64
	}{
		"nothing is known of any": {`"unknownCosts":'$n'`, 0, 9, Paused, 1, 0},
		"and there is no budget":  {`"unknownCosts":'$n'`, 0, 0, Ended, 3, 0},
		"each has a reservation":  {`"unknownCosts":'$n'`, 2, 9, Ended, 3, 6},
		"the first one told":      {`"costUsd":1.5,"unknownCosts":'$((n-1))'`, 0, 9, Ended, 3, 4.5},
		"all tell":                {`"costUsd":'$n'`, 0, 9, Ended, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.task.Reserve = test.reserve
			w.write("log.does", fmt.Sprintf(end, test.says))
			must(0, ledger.Change(t.Context(), w.bus, func(l *ledger.Ledger) bool { l.Limits.MaxUSD = test.budget; return true }))
			r := w.until(w.submit(), func(r Record) bool { return isEnded(r) || isPaused(r) })
			l, err := ledger.Whole(t.Context(), w.bus)
			if r.Phase != test.phase || r.Iterations != test.n || l.Spent != test.spent || r.Cost() != test.spent || err != nil {
				t.Errorf("the loop is %+v, the ledger %+v, %v", r, l, err)
			}
			if r.Phase != Paused {
				return
			}
			if said := r.Sentence(time.Now()); !strings.HasPrefix(said, "paused: its iteration didn't say what it cost") || !strings.Contains(said, "--reserve") {
				t.Errorf("it says %q", said)
			}
			h := handle(t, w.bus, r)
			if err := h.Reserve(MaxReserve + 1); err == nil || h.Record.Task.Reserve != 0 {
				t.Errorf("it reserves %v, %v", h.Record.Task.Reserve, err)
			}
			must(0, h.Reserve(1))
			must(0, h.Resume(loop.Patch{}))
			r = w.until(r, isEnded)
			if l, _ := ledger.Whole(t.Context(), w.bus); r.Iterations != 3 || l.Spent != 2 {
				t.Errorf("resumed with a reservation it is %+v, the ledger %+v", r, l)
			}
		})
	}
}

// A worker of another version may write a state whose sums this one can't read: what its iterations cost counts still.
func TestAnUpgradeForgetsNoCost(t *testing.T) {
	for name, test := range map[string]struct {
		flags      []string
		reason     string
		iterations int
		usd        float64
	}{
		"no limit":          {nil, "promise", 3, 6},
		"a limit of money":  {[]string{"--max-cost=5"}, "max_cost", 2, 5},
		"one that suffices": {[]string{"--max-cost=9"}, "promise", 3, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.task.Flags = test.flags
			r := w.submit()
			w.change(r, func(r *Record) error { r.CostUSD = 3; return nil }) // that no state knows
			w.write("log.does", `echo '{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":'$n',"costUsd":1}'`)
			r = w.until(r, isEnded)
			l, err := ledger.Whole(t.Context(), w.bus)
			if r.StopReason != test.reason || r.Iterations != test.iterations || r.Cost() != test.usd || l.Spent != test.usd-3 || err != nil {
				t.Errorf("it is %+v; spent $%v, %v", r, l.Spent, err)
			}
			if len(test.flags) > 0 && !strings.Contains(w.said(), test.flags[0]+" --max-cost="+map[string]string{"--max-cost=5": "2.0000", "--max-cost=9": "6.0000"}[test.flags[0]]+" [2]") {
				t.Errorf("its child ran as\n%s", w.said())
			}
		})
	}
}

// A sum has what a review costs, which is none of an iteration's: what a state has forgotten stays.
func TestAReviewPaysForNothingThatIsForgotten(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	w.change(r, func(r *Record) error { r.CostUSD, r.Forgotten = 3, 3; return nil })
	w.write("log.does", `echo '{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":'$n',"costUsd":1}'
end() { echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"text":"'$1'","costUsd":'$((n*2))'}'; }`)
	r = w.until(r, isEnded)
	if l := must(ledger.Whole(t.Context(), w.bus)); r.Forgotten != 3 || r.Cost() != 9 || l.Spent != 6 {
		t.Errorf("it is %+v; spent $%v", r, l.Spent)
	}
}

// An attempt that is lost costs what an iteration does.
func TestALostAttemptIsNotFree(t *testing.T) {
	r := Record{Phase: Running, CostUSD: 3, Iterations: 2}
	r.lose()
	spent, lost := (&attempt{Record: Record{CostUSD: 3, Iterations: 2}}).cost(&Outcome{CostOpen: true}, ErrNotFound)
	if r.LostUSD != 1.5 || spent != 1.5 || lost != 1.5 {
		t.Errorf("it has lost $%v; one that fails costs $%v, $%v of it lost", r.LostUSD, spent, lost)
	}
}
