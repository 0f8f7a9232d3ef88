//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// delegate is the model's call of the tool in testdata/delegate.ts.
func delegate(how string, usd float64) fakemodel.Step {
	return fakemodel.Call("delegate", map[string]any{"how": how, "usd": usd})
}

// withDelegate is what lets pi have that tool.
func withDelegate(t *testing.T) []string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "delegate.ts"))
	must.OK(t, err)
	return []string{"-e", path}
}

// TestToolsSpendAsPiCounts compares what we count of pi's stream with what pi
// itself says that the session has cost. What only a list in a result's details
// tells pi leaves out; it is told by the name of the case.
func TestToolsSpendAsPiCounts(t *testing.T) {
	for _, test := range []struct {
		name     string
		steps    []fakemodel.Step
		unlisted float64 // dollars that pi doesn't count
	}{
		{"usage of its own, and both at once", []fakemodel.Step{delegate("own", 2), delegate("both", 3)}, 0},
		{"only listed", []fakemodel.Step{delegate("listed", 2)}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{does(test.steps...), says("Done.")}})
			events, stats := askStats(t, p)
			cmd := p.box.Command(t.Context(), ralph, "decode", "--format", "pi", "--summary", "-")
			cmd.Stdin = strings.NewReader(events)
			out, err := cmd.Output()
			must.OK(t, err)
			var ours struct {
				CostUSD float64
				Tokens  struct{ Input, Output, CacheRead, CacheWrite int64 }
			}
			must.OK(t, json.Unmarshal(out, &ours))
			if want := stats.Cost + test.unlisted; math.Abs(ours.CostUSD-want) > 1e-9 || want < 2 {
				t.Errorf("we count $%v, pi says $%v", ours.CostUSD, stats.Cost)
			}
			n := ours.Tokens
			if got := n.Input + n.Output + n.CacheRead + n.CacheWrite; test.unlisted == 0 && got != stats.Tokens.Total {
				t.Errorf("we count %d tokens, pi says %d", got, stats.Tokens.Total)
			}
		})
	}
}

// sessionStats is pi's answer to get_session_stats, as far as it matters here.
type sessionStats struct {
	Tokens struct{ Total int64 }
	Cost   float64
}

// askStats lets pi work off the prompt in its rpc mode, and asks it what that
// has cost. It returns all that pi wrote up to there.
func askStats(t *testing.T, p *program) (events string, stats sessionStats) {
	t.Helper()
	cmd := p.box.Command(t.Context(), "pi", append(append([]string{"--mode", "rpc", "--no-session"}, p.agent.args...), withDelegate(t)...)...)
	stdin, err := cmd.StdinPipe()
	must.OK(t, err)
	stdout, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	defer func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	}()
	fmt.Fprintln(stdin, `{"id":"p","type":"prompt","message":"Have it done."}`)
	for lines := bufio.NewReader(stdout); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("pi ended early (%v) after %s", err, events)
		}
		var l struct {
			Type, ID string
			Data     sessionStats
		}
		must.OK(t, json.Unmarshal([]byte(line), &l))
		if l.ID == "s" {
			return events, l.Data
		}
		events += line
		if l.Type == "agent_settled" {
			io.WriteString(stdin, `{"id":"s","type":"get_session_stats"}`+"\n")
		}
	}
}
