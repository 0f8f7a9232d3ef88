package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func newWatch() *cobra.Command {
	loops := choice{submitters: true}
	var now, asJSON bool
	cmd := &cobra.Command{
		Use:   "watch LOOP...",
		Short: "Read along what loops do, until they end",
		Long: `Read along what loops do, from their beginning until they end, and end as ralph-lsp run
would: with 0 for a loop that is done, 2 at a limit, 130 for a cancelled one, else 1.
Ctrl-C ends the reading alone: loops go on. --json prints the updates of the wire.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := &view{asJSON: asJSON, flags: flagsOf(cmd), out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr()}
			loops.bus.lost, loops.bus.back = v.away, v.back
			return loops.with(cmd, args, func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error {
				if asJSON && len(found) > 1 {
					return errors.New("--json is of one loop: its updates don't say which one they are of")
				}
				if !asJSON && !now {
					defer v.call()()
				}
				return v.watchAll(ctx, bus, found, now)
			})
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "print what there is, and don't wait for more")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the updates of the wire, an object per line")
	loops.addFlags(cmd)
	return cmd
}

// view is where it is printed what loops do.
type view struct {
	mu     sync.Mutex // one line after another
	asJSON bool
	flags  string // of command lines about the bus
	out    io.Writer
	notes  io.Writer
	isAway bool           // and that was told
	calls  *notify.Remote // nil: the user isn't called
}

// call has the user called who isn't looking, until that is closed.
func (v *view) call() (end func()) {
	warn := func(text string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		fmt.Fprintf(v.notes, "(%s)\n", text)
	}
	var err error
	if v.calls, err = newCalls(terminal.NotifyAt(v.out, warn)); err != nil {
		warn(err.Error())
		return func() {}
	}
	return v.calls.Finish
}

// away says once that the bus is away: until it is there again nothing else is said.
func (v *view) away() {
	v.tell(true, "the bus is away: loops go on, and are shown again once it is there")
}
func (v *view) back() { v.tell(false, "the bus is there again") }

func (v *view) tell(isAway bool, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.isAway == isAway {
		return
	}
	if v.isAway = isAway; v.asJSON {
		json.NewEncoder(v.out).Encode(wire.Warning{SessionUpdate: wire.KindWarning, Warning: loop.Warning{Message: text},
			Notice: wire.Notice{Text: text, Class: wire.ClassWarning}})
		return
	}
	fmt.Fprintf(v.notes, "(%s)\n", text)
}

// watchAll prints what loops do until the last of them has ended. The error is their exit code.
func (v *view) watchAll(ctx context.Context, bus fleet.Bus, found []fleet.Record, now bool) error {
	code := 0
	var problems []error
	var all sync.WaitGroup
	for _, r := range found {
		name := ""
		if len(found) > 1 {
			name = r.Name
		}
		story := newStory(&v.mu, v.out, r.ID, name, v.flags)
		show := story.take
		if v.asJSON {
			show = func(line []byte, _ bool) error { _, err := v.out.Write(line); return err }
		}
		said := func(line []byte, isLive bool) error {
			v.mu.Lock()
			defer v.mu.Unlock()
			if id := askedIn(line); id != "" && isLive && v.calls != nil {
				v.calls.Asked(r.ID, id)
			}
			return show(line, isLive)
		}
		stands := func(r fleet.Record) {
			if v.asJSON {
				return
			}
			v.mu.Lock()
			defer v.mu.Unlock()
			story.stands(r)
			if l := fleet.StatusOf(r, fleet.Shown{}, "", time.Now()); v.calls != nil {
				l.Busy = r.Phase == fleet.Running
				v.calls.Stands(l)
			}
		}
		all.Go(func() {
			last, err := client.Watch(ctx, bus, r.ID, now, said, stands)
			v.mu.Lock()
			defer v.mu.Unlock()
			story.settle()
			if err != nil && ctx.Err() == nil {
				problems = append(problems, fmt.Errorf("%s: %w", r.Name, err))
			} else if last.Phase == fleet.Ended && !now {
				code = max(code, terminal.ExitCode(loop.StopReason(last.StopReason)))
			} else if ctx.Err() != nil {
				fmt.Fprintf(v.notes, "%s goes on without being watched; ralph-fleet cancel %s%s ends it\n", r.Name, r.ID, v.flags)
				code = terminal.ExitCancelled
			}
		})
	}
	all.Wait()
	if err := errors.Join(problems...); err != nil || code == 0 {
		return err
	}
	return exitCode(code)
}

// askedIn is the id of the question that an update asks, "" for any other.
func askedIn(line []byte) string {
	if wire.KindOf(line) != wire.KindQuestion {
		return ""
	}
	u, _ := wire.Decode(line).(wire.Question)
	return u.ID
}

// stands says where the loop is, when that has changed, and at last how it has ended.
func (s *story) stands(r fleet.Record) {
	said := r.Sentence(time.Now())
	isBetween := r.Phase == fleet.Queued && r.Reason == "" && !r.ResumeAt.After(time.Now()) && s.ran
	if isBetween && s.between != nil {
		return
	}
	s.settle()
	if isBetween { // most loops go on at once, where they were
		s.between = time.AfterFunc(brief, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.settle() {
				s.tell(r, said)
			}
		})
	} else if said != s.stood {
		s.tell(r, said)
	}
}

// brief is how long a loop may wait between two iterations before that is told.
const brief = 3 * time.Second

// settle ends a brief wait, and says whether there was one.
func (s *story) settle() (was bool) {
	if was = s.between != nil; was {
		s.between.Stop()
		s.between = nil
	}
	return was
}

func (s *story) tell(r fleet.Record, said string) {
	s.stood, s.ran = said, r.Phase == fleet.Running
	if r.Phase == fleet.Ended {
		if said != r.Text { // what its child has said of its end has all of that
			said += fmt.Sprintf(" after %s · %s", format.Counted(r.Iterations, "iteration"), costOf(r.Cost(), r.CostOpen))
		}
		s.Tell(said)
		return
	}
	if r.Phase == fleet.Running && !slices.Contains([]fleet.Wish{fleet.WishPause, fleet.WishCancel}, r.Wish) {
		said = "runs " + said
	}
	s.Tell("(" + said + ")")
}
