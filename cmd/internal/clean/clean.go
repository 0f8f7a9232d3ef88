// Package clean is the command that removes what is kept of loops. kept.go knows all places
// where there is something, and what of it a loop that runs or can go on needs.
package clean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// defaultAge is how old something has to be that is removed without a word on its age.
const defaultAge = "30d"

// New is the command. inFolder runs it with the folder that it is about.
func New(inFolder func(*cobra.Command, func(cmd *cobra.Command, dir string, args []string) error) *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what is kept of past loops",
		Long: `Remove what ralph-lsp keeps of the folder's loops: their history, snapshots, journals,
records and discarded work. What a loop needs that runs, waits or was interrupted stays.
With --all it is that of all folders, and caches, written outputs and what you trust.
docs/KEEPS.md says what is kept where.`,
		Example: `  ralph-lsp clean --dry-run
  ralph-lsp clean --older-than 7d
  ralph-lsp clean --all --older-than 0      # before you uninstall it`,
		Args: cli.NoArguments,
	}
	var dryRun, all bool
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed, and how much that is")
	cmd.Flags().BoolVar(&all, "all", false, "of all folders, and what belongs to none")
	age := cmd.Flags().String("older-than", defaultAge, "what nothing was added to for this `TIME`; 0 is all")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		span, err := limits.ParseSpan(*age)
		if err != nil {
			return fmt.Errorf("--older-than %w", err)
		}
		k := &keeps{ctx: context.Background(), folder: dir, all: all, age: *age, before: time.Now().Add(-span)}
		problem := k.find()
		if err := k.clean(cmd.OutOrStdout(), dryRun); err != nil {
			return err
		}
		return problem
	})
}

// clean removes what was found, or lists it, and says how much it is of each kind.
func (k *keeps) clean(out io.Writer, dryRun bool) error {
	var errs []error
	count, sizes, total, kinds := map[string]int{}, map[string]int64{}, int64(0), []string{}
	for _, it := range k.found {
		if dryRun {
			fmt.Fprintf(out, "%-16s %8s  %s  %s\n", it.kind, format.Bytes(it.size), it.at.Local().Format(time.DateOnly), stream.Line(it.path, 300))
		} else if err := it.remove(); err != nil {
			errs = append(errs, err)
			continue
		}
		if count[it.kind] == 0 {
			kinds = append(kinds, it.kind)
		}
		count[it.kind]++
		sizes[it.kind] += it.size
		total += it.size
	}
	for _, kind := range kinds {
		fmt.Fprintf(out, "%6d  %-16s %8s\n", count[kind], kind, format.Bytes(sizes[kind]))
	}
	age := ""
	if time.Since(k.before) > time.Minute {
		age = " that is older than " + k.age
	}
	switch done := "removed"; {
	case len(k.found) == 0:
		fmt.Fprintf(out, "there is nothing to remove%s\n", age)
	default:
		if dryRun {
			done = "would be removed; nothing was"
		}
		fmt.Fprintf(out, "%s %s\n", format.Bytes(total), done)
	}
	n, where := 0, ""
	for o := range k.needed {
		if k.isMeant(o.folder) {
			n++
		}
	}
	if k.all {
		where = " --all"
	}
	if n > 0 {
		fmt.Fprintf(out, "what belongs to %s stays: they run, or can go on (ralph-lsp status%s)\n", format.Counted(n, "loop"), where)
	}
	return errors.Join(errs...)
}
