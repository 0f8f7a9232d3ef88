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

// useGuard lets runs be watched by a process of this program.
func useGuard() error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	backends.GuardArgv = []string{self, "guard"}
	return nil
}
