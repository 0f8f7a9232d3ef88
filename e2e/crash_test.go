//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// fiveDollars is what a turn of the fake model costs with so many tokens.
var fiveDollars = &fakemodel.Usage{Input: 5_000_000 / 3}

// costInRecord is what is kept of what the loop has cost.
var costInRecord = regexp.MustCompile(`"costUsd":([0-9.]+)`)

// record is what is kept beside the state file of what the loop counts.
func (p *program) record() []byte {
	paths, _ := filepath.Glob(filepath.Join(p.box.Home, ".local", "state", "ralph-lsp", "loops", "*", "loop.json"))
	if len(paths) != 1 {
		return nil
	}
	data, _ := os.ReadFile(paths[0])
	return data
}

// again continues the loop of a program that is gone.
func (p *program) again() *program {
	q := &program{agent: p.agent, box: p.box, model: p.model, mark: p.mark, t: p.t, exited: make(chan struct{}), changed: make(chan struct{})}
	q.start("--continue")
	return q
}

// awaitSpent waits until it is written down that more than usd were spent, or
// the program has ended.
func (p *program) awaitSpent(usd float64) (ended bool) {
	p.t.Helper()
	return p.poll(fmt.Sprintf("record of more than $%v", usd), func() bool {
		m := costInRecord.FindSubmatch(p.record())
		if m == nil {
			return false
		}
		spent, err := strconv.ParseFloat(string(m[1]), 64)
		return err == nil && spent > usd
	})
}

// poll waits for something that no update tells, or until the program has ended.
func (p *program) poll(what string, isThere func() bool) (ended bool) {
	p.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	timeout := time.After(patience)
	for !isThere() {
		select {
		case <-p.exited:
			return true
		case <-timeout:
			p.fatalf("no %s after %s", what, patience)
		case <-look.C:
		}
	}
	return false
}

// TestLimitsHoldAcrossCrashes kills the loop with SIGKILL in a long tool that a message of
// five dollars has called, and continues it as often as it can be: the budget holds.
func TestLimitsHoldAcrossCrashes(t *testing.T) {
	pays := does(pi.bash(longTool("no-mark")))
	pays.Usage = fiveDollars
	p := prepare(t, pi, fakemodel.Script{Turns: slices.Repeat([]fakemodel.Turn{pays}, 8)})
	p.start("--max-cost", "12", "--max-iterations", "3", "--max-failures", "2", prompt)
	spent, runs := 0.0, 1
	for ; runs < 8 && !p.awaitSpent(spent+4); runs++ {
		spent += 5
		if spent > 12 { // it ends by itself now
			<-p.exited
			break
		}
		p.crash()
		<-p.exited
		p = p.again()
	}
	if code := p.wait(); code != exitCap || p.end().StopReason != "max_cost" || runs != 3 || *p.end().CostUSD > 15.1 || p.end().Iterations != 3 {
		p.fatalf("exit code %d after %d runs, %s", code, runs, p.end().line)
	}
}
