package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/loopstate"
)

// loopFlags are those of the commands that run a loop in this terminal.
type loopFlags struct {
	folder func() (string, error)
	agent  start.Agent
	limits start.Limits
	shown  shown
	record string
}

func (l *loopFlags) addFlags(cmd *cobra.Command) {
	l.folder = folderFlag(cmd)
	addAgentFlags(cmd, &l.agent)
	l.limits.AddFlags(cmd.Flags())
	l.shown.addFlags(cmd)
	cmd.Flags().StringVar(&l.record, "record", "", "keep each run's raw output in `DIR`")
	if err := cmd.MarkFlagDirname("record"); err != nil {
		panic(err) // the flag was added a line above
	}
}

func newRun() *cobra.Command {
	var flags loopFlags
	var promptFile string
	var goOn, noInstruct bool
	cmd := &cobra.Command{
		Use:   "run [flags] [--] PROMPT...",
		Short: "Run a loop in this terminal",
		Long: `Run an agent with the same prompt again and again, each time with a fresh context,
until it promises that it is done or a limit is reached. Ctrl-C cancels.

Words of the prompt are joined by blanks; a single argument is taken as it is.
Text that begins with - goes behind --.`,
		Example: `  ralph-lsp run "Make the tests pass" --completion-promise DONE
  ralph-lsp run --prompt-file PROMPT.md --backend claude --max-iterations 20 --max-cost 5
  ralph-lsp run --backend ./my-agent --backend-arg --fast "Tidy up"
  ralph-lsp run --continue --max-iterations 100`,
		Annotations: map[string]string{takesText: "prompt"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if goOn {
				if len(args) > 0 || promptFile != "" {
					return errors.New("--continue goes on with the prompt in the state file; change it there, or leave --continue out")
				}
				return flags.resume(cmd, noInstruct)
			}
			prompt, err := readPrompt(args, promptFile, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return flags.start(cmd, prompt, noInstruct)
		},
	}
	flags.addFlags(cmd)
	cmd.Flags().StringVar(&promptFile, "prompt-file", "", "read the prompt from `FILE`; - is standard input")
	cmd.Flags().BoolVar(&goOn, "continue", false, "go on with the interrupted loop in the folder")
	cmd.Flags().BoolVar(&noInstruct, "no-instruct", false, "don't tell the agent about the loop and its promise")
	return cmd
}

// config is what all loops of this terminal have in common.
func (l *loopFlags) config(quiet bool) (loop.Config, error) {
	folder, err := l.folder()
	if err != nil {
		return loop.Config{}, err
	}
	cfg := loop.Config{Folder: folder, Args: l.agent.Args, Model: l.agent.Model, Quiet: quiet, Version: programVersion()}
	if l.record != "" {
		if cfg.RecordDir, err = filepath.Abs(l.record); err != nil {
			return loop.Config{}, fmt.Errorf("finding the folder %s: %w", l.record, err)
		}
	}
	return cfg, nil
}

// start runs a new loop.
func (l *loopFlags) start(cmd *cobra.Command, prompt string, quiet bool) error {
	cfg, err := l.config(quiet)
	if err != nil {
		return err
	}
	if cfg.Backend, err = l.agent.Choose(cmd.Context(), ""); err != nil {
		return err
	}
	cfg.Prompt, cfg.Promise, cfg.Limits = prompt, l.limits.Promise, l.limits.Limits()
	return l.drive(cmd, cfg)
}

// resume goes on with a loop that nobody drives.
func (l *loopFlags) resume(cmd *cobra.Command, quiet bool) error {
	cfg, err := l.config(quiet)
	if err != nil {
		return err
	}
	file, err := loopstate.Open(cfg.Folder)
	if err != nil {
		return err
	}
	found, err := file.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return loop.ErrNothingToGoOn
	} else if err != nil {
		return err
	}
	if cfg.Backend, err = l.agent.Choose(cmd.Context(), found.Backend); err != nil {
		return err
	}
	cfg.Continue, cfg.Change = true, l.limits.Patch(cmd.Flags())
	return l.drive(cmd, cfg)
}

func (l *loopFlags) drive(cmd *cobra.Command, cfg loop.Config) error {
	end, err := drive(cfg, cmd.OutOrStdout(), cmd.ErrOrStderr(), l.shown)
	if err != nil {
		return err
	}
	return outcome(end)
}
