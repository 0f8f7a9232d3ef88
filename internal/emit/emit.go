// Package emit is the command with which an agent hands its work over. The agent calls the
// program that runs its loop, so each that does has it.
package emit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// New is for agents: it publishes a topic from inside of a run.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "emit TOPIC [PAYLOAD...]",
		Short: "Hand work over to another hat, as an agent in a run",
		Long: `Publish a topic, like the tag <event topic="TOPIC">PAYLOAD</event> in an agent's last
message. Only an agent, or what it runs, can do so, in a loop whose hats hand work over
to each other. The payload "-" is read from standard input.`,
		Example: `  ralph-lsp emit build.done "all tests pass"
  git diff --stat | ralph-lsp emit review.rejected --for builder -`,
		Args: cli.Needs(`ralph-lsp emit build.done "all tests pass"`, "say which topic"),
	}
	target := cmd.Flags().String("for", "", "the `HAT` that it is for, whoever listens to the topic")
	isJSON := cmd.Flags().Bool("json", false, "the payload is JSON, and is refused when it isn't")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		outbox := os.Getenv(backends.EnvOutbox)
		if outbox == "" {
			return errors.New("emit works only inside of a run, in a loop whose hats hand work over (see ralph-lsp hats): " +
				backends.EnvOutbox + " isn't set")
		}
		if why := hats.CheckTopic(args[0]); why != "" {
			return errors.New("the topic " + why)
		}
		payload := strings.Join(args[1:], " ")
		if payload == "-" {
			data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 2*hats.MaxPayload)) // the rest would be cut anyway
			if err != nil {
				return fmt.Errorf("reading the payload: %w", err)
			}
			payload = string(data)
		}
		payload = strings.TrimSpace(payload)
		if *isJSON && !json.Valid([]byte(payload)) {
			return errors.New("the payload isn't JSON; leave out --json for a text")
		}
		refused, err := hats.Emit(outbox, hats.Topic{Name: args[0], For: *target, Payload: payload})
		if err == nil && refused != "" {
			err = errors.New(strings.Join(strings.Fields(stream.Sanitize(refused)), " "))
		}
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), "published; the next hat is told when this run has ended well")
		}
		return err
	}
	return cmd
}
