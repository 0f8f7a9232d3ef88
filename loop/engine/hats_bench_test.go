package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// What an iteration's turn costs with 50 hats and 10,000 pending topics, with reading and
// writing the state file.
func BenchmarkTurn(b *testing.B) {
	c := setup.Config{}
	for i := range 50 {
		c.Roles.Hats = append(c.Roles.Hats, setup.Role{Hat: hats.Hat{Name: fmt.Sprint("hat", i),
			Triggers: []string{fmt.Sprint("topic.", i)}, Publishes: []string{"topic.*"}}})
	}
	c.Roles.Hats[0].Triggers = append(c.Roles.Hats[0].Triggers, hats.Start)
	file, err := loopstate.Open(b.TempDir())
	must.OK(b, err)
	var q hats.Queue
	for i := range 9_999 {
		q.Pending = append(q.Pending, hats.Topic{Name: fmt.Sprint("topic.", i%50), Payload: fmt.Sprint(i)})
	}
	s := c.NewState("ralph-test", time.Unix(0, 0))
	s.Prompt = "Build it"
	s.Queue = q
	must.OK(b, file.Create(s))
	l := bare(func(l *Loop) { l.engine.cfg, l.engine.store, l.engine.hats.Hats = c, file, c.Roles.HatSet() })
	for i := 0; b.Loop(); i++ {
		var turn hats.Turn
		must.OK(b, must.Err(file.Update(func(s *loopstate.State) error { turn, _ = l.engine.nextTurn(s); return nil })))
		must.OK(b, must.Err(file.Update(func(s *loopstate.State) error {
			ended := hats.Ended{For: turn.Topics, Published: []hats.Topic{{Name: fmt.Sprint("topic.", i%50), Payload: fmt.Sprint("p", i)}}}
			s.Queue = l.engine.hats.Settle(s.Queue, turn.Hat, []hats.Ended{ended}).Queue
			return nil
		})))
	}
}
