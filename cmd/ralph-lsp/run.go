package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/window"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// loopFlags are the flags of the commands that run a loop in this terminal.
type loopFlags struct {
	start.Options
	once   once
	shown  shown
	record string
	detach bool // it goes on alone, and the command ends

	replace bool // a loop that is there may go
	dryRun  bool
}

func (l *loopFlags) addFlags(cmd *cobra.Command, use start.Use) {
	f := cmd.Flags()
	cli.BriefHelp(cmd)
	folderFlag(cmd)
	addStartFlags(cmd, &l.Options, use)
	l.shown.addFlags(cmd)
	f.StringVar(&l.record, "record", "", "keep each run's raw output in `DIR`")
	cli.OfFlag(cmd.MarkFlagDirname("record"))
	f.BoolVar(&l.detach, "detach", false, "let it go on without this terminal; the loop's id is printed (see ralph-lsp attach)")
	start.AboutPlace.In(f, false, "dir")
	start.AboutShown.In(f, false, "output", "verbose", "detach")
	start.AboutShown.In(f, true, "record")
}

func newRun() *cobra.Command {
	var flags loopFlags
	var asked start.Asked
	var goOn bool
	cmd := &cobra.Command{
		Use:   "run [flags] [--] PROMPT...",
		Short: "Run a loop in this terminal",
		Long: `Run an agent with the same prompt again and again, each time with a fresh
context, until it promises that it is done or a limit is reached.

Ctrl-C interrupts; ralph-lsp resume goes on.

Words of the prompt are joined by blanks; a single argument is taken as it is.
Put text that begins with - after --. A text such as

  '/ralph-loop "Build X" --max-iterations 20'

is read as a start with these flags; the command line's flags win over them.
/cancel-ralph and /ralph-help do what they say. After --, and in a file, all of
these are just a prompt.`,
		Example: "  " + firstRun + `
  ralph-lsp run --prompt-file PROMPT.md --backend ./my-agent --max-cost 5`,
		Annotations: map[string]string{cli.TakesText: "prompt"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.once.check(cmd, asked.NeedsStdin(), flags.detach); err != nil {
				return err
			}
			if goOn {
				switch {
				case flags.dryRun:
					return errors.New("--dry-run shows a new loop, and --continue goes on with an existing one: ralph-lsp status shows that one")
				case flags.replace:
					return errors.New("--continue goes on with the loop that --replace would discard; leave one of them out")
				case flags.Tree != (start.Tree{}):
					return errors.New("--continue goes on where the loop is, and --worktree begins one elsewhere; leave one of them out")
				}
				at, args, err := targetOf(cmd, args)
				if err != nil {
					return err
				}
				asked.Words = args
				if asked.IsSaid() {
					return errors.New("--continue goes on with the prompt in the state file; change it there, or leave --continue out")
				}
				return flags.tellMissing(cmd, flags.resume(cmd, at.dir))
			}
			asked.Words = args
			return flags.tellMissing(cmd, flags.start(cmd, asked))
		},
	}
	f := cmd.Flags()
	asked.AddFlags(f)
	flags.addFlags(cmd, start.ToStart)
	flags.once.addFlags(f)
	f.BoolVar(&goOn, "continue", false, "go on with the folder's unfinished loop")
	f.BoolVar(&flags.replace, "replace", false, "discard the folder's loop unasked; it is cancelled if it runs")
	f.BoolVar(&flags.dryRun, "dry-run", false, "say what would run; nothing starts, and the exit code is 1 if it couldn't")
	start.AboutAgent.In(f, true, "continue", "replace", "once", "lease") // resume is the first; a start that is refused names the second
	start.AboutShown.In(f, false, "dry-run")
	return cmd
}

// start runs a new loop. The prompt comes first, as it may be a command of its own
// (/cancel-ralph) that needs neither settings nor an agent.
func (l *loopFlags) start(cmd *cobra.Command, asked start.Asked) error {
	folder, err := folderMeant(cmd)
	if err != nil {
		return err
	}
	l.shown.spare = window.In(cmd.Context())
	var request start.Request
	if cmd.ArgsLenAtDash() != 0 { // else all of it is the prompt
		if request, err = start.FromWords(asked.Words); err != nil {
			return err
		}
		if asked.Words = nil; request.Prompt != "" {
			asked.Words = []string{request.Prompt}
		}
	}
	switch request.Slash {
	case start.SlashCancel:
		return cancelLoop(cmd, target{dir: folder})
	case start.SlashHelp:
		err := cmd.Root().Help()
		fmt.Fprint(cmd.OutOrStdout(), "\nA start takes\n"+strings.NewReplacer("- `", "  ", "`", "", `\<`, "<").Replace(start.FlagList()))
		return err
	}
	preview := service.Preview{Replace: l.replace}
	var files config.Files
	var settings config.Settings
	if l.dryRun {
		settings, err = preview.SettingsFor(filesOf(folder))
		err = badConfig(err)
	} else {
		files, settings, err = loadSettings(cmd, folder)
	}
	if err != nil {
		return err
	}
	var prompt string
	resolver := l.resolver(cmd, settings)
	resolver.Start = resolver.Start.Over(request.Options)
	switch {
	case asked.IsSaid():
		prompt, err = asked.Prompt(cmd.Context(), cmd.InOrStdin())
	case resolver.Start.NeedsPrompt(settings):
		prompt, err = configuredPrompt(folder, settings)
	}
	if err != nil {
		return err
	}
	resolver.Prompt = prompt
	var cfg setup.Config
	var sources start.Sources
	resolve := func() error {
		cfg, sources, err = resolver.Resolve(cmd.Context())
		cfg.Folder = folder
		return err
	}
	if l.dryRun {
		preview.Met = append(preview.Met, resolve())
		preview.Config, preview.Sources = cfg, sources
		preview.InTree(cmd.Context(), resolver.Start.Tree, settings.Worktree)
		return l.tellPreview(cmd, preview, asked.Issue != "")
	}
	if err := withTrust(cmd, resolve); err != nil {
		return err
	}
	if changed, err := l.offer(cmd, &resolver, cfg); err != nil {
		return err
	} else if changed {
		if err := withTrust(cmd, resolve); err != nil {
			return err
		}
	}
	if tree := resolver.Start.Tree; tree != (start.Tree{}) {
		return l.driveInTree(cmd, cfg, tree, settings)
	}
	return startOrReplace(cmd, cfg, l.replace, func() error { return l.drive(cmd, cfg, files, func() {}) })
}

// resume goes on with a loop that nobody drives. Programs that its file names need trust like a folder's settings: an
// agent may have written it.
func (l *loopFlags) resume(cmd *cobra.Command, folder string) error {
	l.shown.spare = window.In(cmd.Context())
	found, err := start.FoundIn(folder)
	if err != nil {
		return err
	}
	files, settings, err := loadSettings(cmd, folder)
	if err != nil {
		return err
	}
	var cfg setup.Config
	err = withTrust(cmd, func() error {
		resolver := l.resolver(cmd, settings)
		resolver.Was = &found
		cfg, _, err = resolver.Resolve(cmd.Context())
		return err
	})
	if err != nil {
		return err
	}
	cfg.Folder = folder
	return l.drive(cmd, cfg, files, func() {})
}

// tellMissing tells a program that reads JSON what was looked for in vain, and
// how to install it. The error is for people.
func (l *loopFlags) tellMissing(cmd *cobra.Command, err error) error {
	var missing *backends.NotFoundError
	if l.shown.style.Value != terminal.JSON || !errors.As(err, &missing) {
		return err
	}
	update := wire.MissingAgentUpdate{
		ErrorUpdate:  wire.ErrorUpdate{SessionUpdate: wire.KindError, Message: missing.Error(), Kind: wire.ReasonBackendNotFound},
		MissingAgent: wire.MissingOf(missing),
	}
	return errors.Join(err, terminal.NewJSONLines(cmd.OutOrStdout()).Write(update, wire.Stamp{Time: time.Now().UTC()}))
}

// resolver makes a loop's configuration of the flags and the files.
func (l *loopFlags) resolver(cmd *cobra.Command, settings config.Settings) start.Resolver {
	return start.Resolver{
		Start:    l.Options,
		Settings: settings,
		Attended: isAttended(cmd),
		Detect:   start.Installed,
	}
}

// drive runs the loop to its end. began is called when it has begun.
func (l *loopFlags) drive(cmd *cobra.Command, cfg setup.Config, files config.Files, began func()) error {
	cfg.Version = programVersion()
	if l.record != "" {
		dir, err := filepath.Abs(l.record)
		if err != nil {
			return fmt.Errorf("finding the folder %s: %w", l.record, err)
		}
		cfg.Storage.Recordings = dir
	}
	if l.detach {
		return detached(cmd, l.shown.spare, cfg, files, began)
	}
	end, err := l.follow(cmd, cfg, files, began)
	if unseen := (*exitError)(nil); errors.As(err, &unseen) {
		unseen.message += "; " + terminal.GoOn
	}
	if err != nil {
		return err
	}
	err = outcome(end)
	if failed := (*exitError)(nil); end.Reason == loop.StopPermissionDenied && errors.As(err, &failed) {
		failed.message += howToPermit(cmd, cfg)
	}
	return err
}

// follow shows the loop in this terminal to its end. began is called when it has begun.
func (l *loopFlags) follow(cmd *cobra.Command, cfg setup.Config, files config.Files, began func()) (loop.End, error) {
	if !l.once.wanted {
		l.shown.answers = isAttended(cmd)
		return drive(cfg, files, cmd.OutOrStdout(), cmd.ErrOrStderr(), l.shown, began)
	}
	cfg.Once, l.shown.once = true, true
	host := start.Host()
	host.Attended = func() bool { return isAttended(cmd) }
	// with a lease, the program that holds the loop reads the output: to look for it among all processes would take as long
	// as an iteration
	if l.once.lease == 0 {
		host.Printed = keeper.PrintedBy(os.Getpid())
	} else {
		l.once.next = make(chan struct{}, 1)
		cfg.Storage.Changes.AsIs = true // so that program need make no tree of the folder
		l.shown.next = l.once.next
	}
	return driveOnce(cfg, host, cmd.OutOrStdout(), cmd.ErrOrStderr(), l.shown, func(drives keeper.Driven, over <-chan struct{}) {
		began()
		start.Remember(files, cfg, drives.ID())
		l.once.hold(cmd.InOrStdin(), drives.Interrupt, over)
	})
}

// driveInTree runs a loop in a worktree that is made for it. One that can't begin
// leaves none.
func (l *loopFlags) driveInTree(cmd *cobra.Command, cfg setup.Config, tree start.Tree, settings config.Settings) error {
	if _, _, err := service.CheckStart(cfg); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	ends := append(slices.Clone(terminal.Signals), syscall.SIGPIPE) // a process that a broken pipe kills leaves half a tree
	ctx, stop := signal.NotifyContext(cmd.Context(), ends...)
	made, err := tree.Make(ctx, &cfg, settings.Worktree, stderr)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err != nil && interrupted:
		return &exitError{terminal.ExitCancelled, err.Error()}
	case err != nil:
		return err
	}
	fmt.Fprintf(stderr, "works in the worktree %s, on the branch %s; other commands find it with%s\n",
		terminal.Line(cfg.Folder), terminal.Line(made.Branch), terminal.InFolderOf(cfg.Folder))
	began := false
	err = l.drive(cmd, cfg, filesOf(cfg.Folder), func() { began = true })
	if !began {
		return errors.Join(err, made.Drop())
	}
	fmt.Fprintf(stderr, "ralph-lsp land %s lands its work on your branch; --discard removes branch and worktree instead\n",
		format.ShellWord(made.Branch))
	return err
}

// tellPreview says what a start would do, as editors say it, and fails if it would be
// refused. A prompt that its user hasn't written is shown.
func (l *loopFlags) tellPreview(cmd *cobra.Command, preview service.Preview, showsPrompt bool) error {
	out := cmd.OutOrStdout()
	p := terminal.PaletteFor(out)
	result, err := preview.Result(cmd.Context(), func(string) []wire.Command { return nil })
	if err != nil {
		return err
	}
	if l.shown.style.Value == terminal.JSON {
		terminal.WriteJSON(out, result)
	} else {
		width := terminal.LineWidth(out)
		fmt.Fprintln(out, terminal.Wrapped(p.Bold("Ralph")+" would run "+p.Cyan(terminal.Line(result.Text)), width, 2))
		for _, row := range result.Details {
			terminal.PrintFact(out, p, len("permissions"), row.Label, row.Text)
		}
		for _, warning := range result.Warnings {
			fmt.Fprintln(out, terminal.Wrapped(p.Yellow("! ")+terminal.Line(warning), width, 2))
		}
		for _, why := range preview.Met {
			text := explain(why)
			if untrusted := (*config.UntrustedError)(nil); errors.As(why, &untrusted) {
				text = untrusted.Error() // a line for each thing that it wants
			}
			for line := range strings.SplitSeq(p.Red("✗ ")+text, "\n") {
				fmt.Fprintln(out, terminal.Wrapped(line, width, 4))
			}
		}
		if showsPrompt {
			fmt.Fprintln(out, "\n"+stream.Sanitize(preview.Config.Prompt))
		}
	}
	if len(preview.Met) > 0 {
		return &exitError{terminal.ExitFailed, "this start would be refused"}
	}
	return nil
}

// newResume first asks the process that drives the loop. Only without one the loop
// goes on here, as it would otherwise run twice.
func newResume() *cobra.Command {
	var flags loopFlags
	cmd := &cobra.Command{
		Use:   "resume [LOOP]",
		Short: "Let a loop go on that pauses, waits or is over",
		Long: `Let the loop in the folder go on. A paused loop starts its next iteration, and one
that waits for a rate limit tries again now. A loop that was interrupted, failed or
reached a limit goes on in this terminal, as with run --continue; the flags below are
for that.`,
		Args: oneLoop,
	}
	flags.addFlags(cmd, start.ToResume)
	cmd.Flags().BoolVar(&flags.Accept, "accept", false, "believe the promise that couldn't be verified, this once")
	start.AboutEnd.In(cmd.Flags(), false, "accept")
	cmd.ValidArgsFunction = completeIDs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, _, err := targetOf(cmd, args)
		if err != nil {
			return err
		}
		_, err = local.Do(at.loop(), service.Resume{Patch: loop.Patch{Accept: flags.Accept}})
		if errors.Is(err, loop.ErrNotRunning) {
			return flags.tellMissing(cmd, flags.resume(cmd, at.dir))
		} else if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop goes on")
		return nil
	}
	return cmd
}
