package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/orchestrator"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	plans "github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

//go:embed presets
var presets embed.FS

// plainPreset is the one without hats.
const plainPreset = "plain"

// newInit is the command that writes the files of a folder that has none.
func newInit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a ralph.toml and a PROMPT.md to begin with",
		Long: `Write a commented ralph.toml, and a PROMPT.md to fill in. Files that are there stay
as they are. Presets with hats: ` + strings.Join(presetNames(), ", ") + `.

With --from ralph.yml, settings and hats of ralph-orchestrator become a ralph.toml.
What isn't taken over stands there as comments.

With --plan [FILE], a plan to fill in is written instead, PLAN.md unless you name another.
With --from, it has the tasks of another program: a plan of ralphex or open-ralph, or the
issues.jsonl of beads.`,
	}
	planned := cmd.Flags().Bool("plan", false, "write a plan instead, for ralph-lsp run --plan")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *planned && len(args) == 1 {
			return nil
		}
		return cli.NoArguments(cmd, args)
	}
	from := cmd.Flags().String("from", "", "take over `FILE`: a ralph.yml, or with --plan tasks of ralphex, open-ralph, or "+
		"beads (.beads/issues.jsonl)")
	preset := cmd.Flags().String("preset", plainPreset, "the `NAME` of a ralph.toml to begin with")
	cli.OfFlag(cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(presetNames(), cobra.ShellCompDirectiveNoFileComp)))
	cmd.MarkFlagsMutuallyExclusive("preset", "plan")
	cmd.MarkFlagsMutuallyExclusive("preset", "from")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		switch {
		case *planned:
			return writePlan(cmd, dir, append(args, "PLAN.md")[0], *from)
		case slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(*from)):
			return takeOver(cmd, dir, *from)
		case *from != "":
			return fmt.Errorf("%s is no ralph.yml, so what it has are tasks, which are written into a plan; say --plan, too", terminal.Line(*from))
		}
		settings, err := presets.ReadFile("presets/" + *preset + ".toml")
		if err != nil || strings.ContainsAny(*preset, `/\`) {
			return fmt.Errorf("there is no preset %q: %s", *preset, format.Known(*preset, presetNames()))
		}
		_, there := os.Lstat(filepath.Join(dir, config.Name))
		err = writeNew(cmd, dir, []newFile{{config.Name, settings}, {"PROMPT.md", []byte(start.Template)}})
		if err == nil && there != nil && *preset != plainPreset {
			err = trustOurs(dir, settings)
			fmt.Fprintf(cmd.OutOrStdout(), "next: say in PROMPT.md what is to be done; ralph-lsp hats%s draws the hats of %s, "+
				"which is trusted as it is now\n", terminal.InFolderOf(dir), config.Name)
		}
		return err
	})
}

// takeOver writes what a ralph.yml says as a ralph.toml, and its prompt. It isn't trusted: nobody has read it yet.
func takeOver(cmd *cobra.Command, dir, name string) error {
	data, err := regular.Read(name, orchestrator.MaxSize)
	if err != nil {
		return fmt.Errorf("%s can't be taken over: %w; name the ralph.yml of ralph-orchestrator", terminal.Line(name), err)
	}
	settings, prompt, isWhole, err := orchestrator.Convert(data, backends.Names())
	if err != nil {
		return fmt.Errorf("%s %w", terminal.Line(name), err)
	}
	files := []newFile{{config.Name, settings}}
	if _, err := os.Lstat(filepath.Join(dir, config.Name)); err == nil {
		return writeNew(cmd, dir, files) // which says so
	}
	if prompt != "" {
		files = append(files, newFile{"PROMPT.md", []byte(prompt)})
	}
	if err := writeNew(cmd, dir, files); err != nil {
		return err
	}
	if !isWhole {
		fmt.Fprintf(cmd.OutOrStdout(), "not everything has a place there: the rest stands as comments at the end of %s\n", config.Name)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "next: read %s, then ralph-lsp trust%[2]s; ralph-lsp hats%[2]s draws its hats\n",
		config.Name, terminal.InFolderOf(dir))
	return nil
}

// writePlan writes a plan without a task: its examples are in a comment, so that no agent is paid for them.
// With from, it has the tasks of that file, unless run takes it as it is.
func writePlan(cmd *cobra.Command, dir, name, from string) error {
	if !filepath.IsLocal(name) || strings.EqualFold(filepath.Ext(name), ".json") {
		return fmt.Errorf("a plan is written as a Markdown file in the folder, which %s isn't; name one such as PLAN.md", terminal.Line(name))
	}
	if from != "" {
		from, data, err := setup.ReadTasks(dir, from)
		if err != nil {
			return err
		}
		p, checks, err := plans.From(from, data)
		switch {
		case err != nil:
			return err
		case bytes.Equal(p.Data, data):
			fmt.Fprintf(cmd.OutOrStdout(), "nothing was written: %s is a plan as it is\n", terminal.Line(from))
			name = from
		default:
			if err := writeNew(cmd, dir, []newFile{{name, p.Data}}); err != nil {
				return err
			}
		}
		showPlan(cmd.OutOrStdout(), dir, name, checks...)
		return nil
	}
	starter, _ := presets.ReadFile("presets/PLAN.md") // it is there
	err := writeNew(cmd, dir, []newFile{{name, starter}})
	if err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "next: write your tasks into it; ralph-lsp run%s --plan %s does one each iteration\n",
			terminal.InFolderOf(dir), format.ShellWord(name))
	}
	return err
}

// trustOurs trusts the folder's file if it has exactly the text that we have just written.
func trustOurs(dir string, written []byte) error {
	files := filesOf(dir)
	if data, err := regular.Read(filepath.Join(dir, config.Name), config.MaxSize); err != nil || !bytes.Equal(data, written) {
		return err
	}
	_, err := files.Load()
	if untrusted := (*config.UntrustedError)(nil); errors.As(err, &untrusted) {
		return untrusted.Remember()
	}
	return err
}

func presetNames() []string {
	names, _ := fs.Glob(presets, "presets/*.toml") // the pattern is a good one
	for i, file := range names {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".toml")
	}
	return names
}

// newFile is a file that is written where there is none.
type newFile struct {
	name string
	data []byte
}

// writeNew writes files, and says of each whether it did. One that is there is no
// failure unless all are.
func writeNew(cmd *cobra.Command, dir string, files []newFile) error {
	var there []string
	for _, f := range files {
		file, err := os.OpenFile(filepath.Join(dir, f.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			there = append(there, f.name)
			continue
		}
		if err == nil {
			_, err = file.Write(f.data)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w; choose a folder that can be written to (-C DIR)", f.name, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), "written: "+f.name)
	}
	switch {
	case len(there) == len(files) && len(files) == 1:
		return fmt.Errorf("%s is there already, and stays as it is", there[0])
	case len(there) == len(files):
		return fmt.Errorf("%s are there already, and stay as they are", strings.Join(there, " and "))
	case len(there) > 0:
		fmt.Fprintln(cmd.OutOrStdout(), "there already, and left as it is: "+strings.Join(there, ", "))
	}
	return nil
}
