package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func newAnswer() *cobra.Command {
	var one choice
	cmd := &cobra.Command{
		Use:   "answer LOOP [ID] [deny|once|loop|VALUE] [WORDS...]",
		Short: "Answer what an agent of a loop asks",
		Long: `Answer what an agent asks that waits for you (submit --permissions ask). Without an answer
it shows what is open. Words behind deny are for the agent. once allows it this time, loop
all that its rule says for as long as the loop lasts. Without an ID the only open
question is meant.`,
		Example: `  ralph-fleet answer make-the-tests-pass
  ralph-fleet answer make-the-tests-pass q2kxw deny "Leave that file alone"`,
		Args:        cli.Needs("ralph-fleet answer make-the-tests-pass", "say which loop is meant"),
		Annotations: map[string]string{cli.TakesText: "answer"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return one.with(cmd, args[:1], func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error {
				r, words := found[0], args[1:]
				open, err := questionsOf(ctx, bus, r)
				if err != nil {
					return err
				}
				usage := "ralph-fleet answer " + format.ShellWord(args[0])
				switch {
				case r.Phase == fleet.Ended:
					return fmt.Errorf("%s has ended (%s): its agent asks nothing any more", r.Name, r.Sentence(time.Now()))
				case len(words) == 0:
					return printQuestions(cmd.OutOrStdout(), r, open, usage+flagsOf(cmd))
				}
				q, a, err := answers.ReadAnswer(open, words, usage, terminal.ByTerminal)
				if err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
				if err := (&fleet.Handle{Ctx: ctx, Bus: bus, Record: r}).Answer(q.ID, a); err != nil { // a late answer is to no other question
					return fmt.Errorf("%s: %w", r.Name, err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), wire.AnsweredText(q, a))
				return nil
			})
		},
	}
	one.bus.addFlags(cmd)
	one.bus.completeLoops(cmd, 1)
	return cmd
}

// askPatience is how long is waited for what a loop asks.
const askPatience = 10 * time.Second

// questionsOf are those of a loop that are open, the oldest first.
func questionsOf(ctx context.Context, bus fleet.Bus, r fleet.Record) ([]ask.Question, error) {
	shown, err := fleet.Gather(ctx, bus, []fleet.Record{r}, askPatience)
	if err != nil {
		return nil, err
	}
	return openOf(r, shown[r.ID]), nil
}

// openOf are the questions that an iteration shows. Of 100,000 loops most show nothing, and cost nothing here.
func openOf(r fleet.Record, s fleet.Shown) (open []ask.Question) {
	if !r.IsNow(s) {
		return nil
	}
	for _, q := range fleet.StatusOf(r, s, "", time.Now()).Questions {
		open = append(open, q.Question)
	}
	return open
}

// printQuestions shows what is open, and the command line that answers it.
func printQuestions(w io.Writer, r fleet.Record, open []ask.Question, usage string) error {
	if len(open) == 0 {
		_, err := fmt.Fprintf(w, "no agent asks anything: %s is %s\n", r.Name, r.Sentence(time.Now()))
		return err
	}
	terminal.PrintQuestions(w, open, usage)
	return nil
}

// flagsOf are those that say which bus a command was given, for another command line.
func flagsOf(cmd *cobra.Command) (flags string) {
	var bus pflag.FlagSet
	new(busFlags).addTo(&bus)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if bus.Lookup(f.Name) != nil {
			flags += " --" + f.Name + " " + format.ShellWord(format.WithoutUserinfo(f.Value.String()))
		}
	})
	return flags
}
