package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

func newFetch() *cobra.Command {
	loops := choice{submitters: true}
	var repo string
	cmd := &cobra.Command{
		Use:   "fetch LOOP...",
		Short: "Put what loops have done into a repository, each as a branch ralph/<name>",
		Long: `Put what loops have done into a repository, each as a branch ralph/<name>; a branch that
was fetched before goes on. The repository has to be the one of the loops.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(repo)
			if err != nil {
				return err
			}
			if _, err := os.Stat(dir); err != nil {
				return err
			}
			return loops.each(cmd, args, func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error) {
				return fleet.Fetch(ctx, bus, r, dir)
			})
		},
	}
	loops.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&repo, "into", ".", "the `FOLDER` of the repository")
	return cmd
}
