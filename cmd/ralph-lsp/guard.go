package main

import (
	"github.com/spf13/cobra"

	"ralph-lsp/backends"
)

// newGuard is the process that ends what a killed run leaves behind.
func newGuard() *cobra.Command {
	return &cobra.Command{
		Use:    "guard",
		Hidden: true,
		Args:   noArguments,
		Run:    func(cmd *cobra.Command, _ []string) { backends.GuardMain(cmd.InOrStdin()) },
	}
}

// newSeat is the process that a plan's agent is a job of.
func newSeat() *cobra.Command {
	return &cobra.Command{
		Use:                "seat PROGRAM [ARG...]",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.MinimumNArgs(1),
		Run:                func(_ *cobra.Command, args []string) { backends.SeatMain(args) },
	}
}

// useGuard lets runs be watched, and plans be held, by processes of this program.
func useGuard() error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	backends.GuardArgv = []string{self, "guard"}
	backends.SeatArgv = []string{self, "seat"}
	return nil
}
