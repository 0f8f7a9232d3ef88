package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph-lsp/fleet"
	"ralph-lsp/fleet/natsbus"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

func newAnswer() *cobra.Command {
	var bus busFlags
	var id string
	cmd := &cobra.Command{
		Use:   "answer LOOP [deny|once|loop|VALUE] [WORDS...]",
		Short: "Answer what an agent of a loop asks",
		Long: `Answer what an agent asks that waits for you (submit --permissions ask). Without an answer
it shows what is open. Words behind deny are for the agent. once allows it this time, loop
all that its rule says for as long as the loop lasts.`,
		Example: `  ralph-fleet answer make-the-tests-pass
  ralph-fleet answer make-the-tests-pass --id q2kxw deny "Leave that file alone"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bus.withLoops(cmd, args[:1], func(ctx context.Context, bus *natsbus.Bus, found []fleet.Record) error {
				open, err := questionsOf(ctx, bus, found[0])
				if err != nil {
					return err
				}
				if len(args) == 1 {
					return printQuestions(cmd.OutOrStdout(), open)
				}
				p, err := answerOf(open, id, args[1:])
				if err != nil {
					return fmt.Errorf("%s: %w", found[0].ID, err)
				}
				var result wire.AnswerResult
				if err := fleet.AskWorker(ctx, bus, found[0].ID, wire.CommandAnswer, byTerminal, p, &result); err != nil {
					return fmt.Errorf("%s: %w", found[0].ID, err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), result.Text)
				return nil
			})
		},
	}
	bus.addFlags(cmd)
	cmd.Flags().StringVar(&id, "id", "", "the `ID` of the question that is meant; without it the only one is")
	return cmd
}

// askPatience is how long is waited for what a loop asks.
const askPatience = 10 * time.Second

// questionsOf are those of a loop that are open, the oldest first.
func questionsOf(ctx context.Context, bus fleet.Bus, r fleet.Record) ([]wire.Question, error) {
	shown, err := fleet.Gather(ctx, bus, []fleet.Record{r}, askPatience)
	if err != nil || shown[r.ID].Status == nil {
		return nil, err
	}
	var l wire.LoopStatus
	return l.Questions, json.Unmarshal(shown[r.ID].Status, &l)
}

func printQuestions(w io.Writer, open []wire.Question) error {
	if len(open) == 0 {
		_, err := fmt.Fprintln(w, "no agent asks anything")
		return err
	}
	for _, q := range open {
		fmt.Fprintf(w, "%s [%s]\n", q.Text, stream.Line(q.ID, maxID))
		for line := range strings.Lines(strings.TrimSpace(stream.Plain(q.Detail))) {
			fmt.Fprintln(w, "  "+strings.TrimRight(line, "\n"))
		}
		for _, option := range q.Options {
			fmt.Fprintln(w, "  - "+stream.Line(option, maxID))
		}
		if q.Rule != "" {
			fmt.Fprintln(w, "  loop would allow "+stream.Line(q.Rule, maxID))
		}
	}
	return nil
}

// maxID bounds what stands in a line beside a question, in bytes.
const maxID = 200

// answerOf reads an answer to one of the questions that are open. A question is always
// named to its worker: a late answer is to no other.
func answerOf(open []wire.Question, id string, words []string) (p wire.AnswerParams, err error) {
	i := slices.IndexFunc(open, func(q wire.Question) bool { return id == "" || q.ID == id })
	switch {
	case i < 0:
		return p, loop.ErrNoQuestion
	case id == "" && len(open) > 1:
		return p, fmt.Errorf("%d questions are open: say which one is meant, as in --id %s", len(open), open[0].ID)
	}
	p.ID, p.Answer, p.Text = open[i].ID, words[0], strings.Join(words[1:], " ")
	switch p.Answer {
	case loop.AnswerDeny:
	case loop.AnswerOnce, loop.AnswerLoop:
		if p.Text != "" {
			return p, errors.New("words are for deny: leave them out")
		}
	default:
		p.Answer, p.Text = loop.AnswerValue, strings.Join(words, " ")
	}
	return p, nil
}
