package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

func newFetch() *cobra.Command {
	var loops choice
	var repo, bundle, patch string
	cmd := &cobra.Command{
		Use:   "fetch LOOP...",
		Short: "Put what loops have done into a repository, each as a branch ralph/<name>",
		Long: `Put what loops have done into a repository, each as a branch ralph/<name>; a branch that
was fetched before goes on. With --bundle or --patch write files instead, for git fetch,
or git am and git apply. The repository has to be the one of the loops.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(repo)
			if err != nil {
				return err
			}
			if _, err := os.Stat(dir); err != nil {
				return err
			}
			fetch := func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error) {
				return fleet.Fetch(ctx, bus, r, dir)
			}
			for form, path := range map[fleet.Form]string{fleet.Bundle: bundle, fleet.Patch: patch} {
				if path == "" {
					continue
				}
				if info, err := os.Stat(path); (len(args) > 1 || len(loops.labels) > 0) && (err != nil || !info.IsDir()) {
					return fmt.Errorf("--%s %s: several loops need a folder that is there", form, path)
				}
				fetch = func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error) {
					return fleet.FetchFile(ctx, bus, r, dir, form, path)
				}
			}
			return loops.each(cmd, args, fetch)
		},
	}
	loops.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&repo, "into", ".", "the `FOLDER` of the repository")
	f.StringVar(&bundle, "bundle", "", "write a bundle for git fetch to `FILE`, or into a folder")
	f.StringVar(&patch, "patch", "", "write a patch for git am or git apply to `FILE`, or into a folder")
	cmd.MarkFlagsMutuallyExclusive("bundle", "patch")
	return cmd
}
