// Package keeper is the process in which a loop goes on that was detached: it belongs to no
// window, continues one loop as it was left, and ends with it. Both programs have it as a
// command, as each is what an editor may have started.
package keeper

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/apart"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/keeper/door"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	Name = "keeper" // of the command
	// begun is what a keeper says when it goes on, or waits for who still drives the loop.
	begun = "begun"
	// poll is how often it looks whether that one is gone.
	poll = 20 * time.Millisecond
	// startPatience bounds how long who starts a keeper waits for its word.
	startPatience = 30 * time.Second
	// endLimit is how long a loop may take to end that a signal interrupts. A second one doesn't wait.
	endLimit = 20 * time.Second
)

// Start starts the keeper of the loop with an id in a folder, and returns when it goes on with
// it, or waits until nobody drives it any more. trusted: an editor's user trusts the folder.
// The keeper outlives this process, and whoever ends that with all that is below it.
func Start(folder, loopID string, trusted bool) error {
	line, leaver, err := begin(folder, loopID, trusted)
	if line == "" && leaver != nil && leaver.ExitCode() < 0 {
		// A signal ended it: until it has its own session, it hears what a closing terminal tells this one's group.
		line, _, err = begin(folder, loopID, trusted)
	}
	switch {
	case line == begun:
		return nil
	case line != "":
		return errors.New(stream.Plain(line))
	}
	return fmt.Errorf("starting a process for the loop: %w", err)
}

// begin starts a keeper by a process that ends at once, and returns the keeper's word and how that process ended.
func begin(folder, loopID string, trusted bool) (line string, leaver *os.ProcessState, err error) {
	cmd := command(folder, loopID, trusted, "--leave")
	cmd.SysProcAttr = apart.Attributes() // a terminal may be closing, which ends all that stand in its foreground
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	late := time.AfterFunc(startPatience, func() { out.Close() })
	defer late.Stop()
	line, err = bufio.NewReader(io.LimitReader(out, 64<<10)).ReadString('\n')
	if err != nil {
		err = fmt.Errorf("it said nothing: %w", err)
	}
	_ = cmd.Wait() // it has gone: its child says the rest
	return strings.TrimSpace(line), cmd.ProcessState, err
}

// command runs this program as a keeper.
func command(folder, loopID string, trusted bool, flags ...string) *exec.Cmd {
	self, err := os.Executable()
	cmd := outside.Command(context.Background(), self, slices.Concat([]string{Name, fmt.Sprintf("--trusted=%t", trusted)}, flags, []string{"--", folder, loopID})...)
	cmd.Err = cmp.Or(err, cmd.Err)
	return cmd
}

// New is the command.
func New(version string) *cobra.Command {
	k := keeper{version: version}
	cmd := &cobra.Command{Use: Name + " FOLDER LOOP", Short: "Go on with a loop that was detached", Hidden: true, Args: cobra.ExactArgs(2)}
	leave := cmd.Flags().Bool("leave", false, "start another one that outlives this process, and end")
	cmd.Flags().BoolVar(&k.trusted, "trusted", false, "the folder's files are trusted")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *leave {
			return k.leave(args[0], args[1])
		}
		return k.run(cmd, args[0], args[1])
	}
	return cmd
}

type keeper struct {
	version string
	trusted bool
}

// leave starts the keeper as a process of its own session, which isn't below this one when it ends.
func (k *keeper) leave(folder, loopID string) error {
	cmd := command(folder, loopID, k.trusted)
	cmd.Stdout, cmd.SysProcAttr = os.Stdout, apart.Attributes()
	if log, err := loop.KeeperLog(loopID); err == nil {
		defer log.Close()
		cmd.Stderr = log
	}
	return cmd.Start()
}

// run goes on with the loop to its end.
func (k *keeper) run(cmd *cobra.Command, folder, loopID string) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	out := os.Stdout
	say := func(word string) {
		if out != nil {
			fmt.Fprintln(out, word)
			out.Close() // who started this waits for no more
			out = nil
		}
	}
	begunLoop := make(chan *engine.Loop, 1)
	go func() {
		<-caught
		go func() { (<-begunLoop).Interrupt() }()
		select {
		case <-caught:
		case <-time.After(endLimit):
		}
		backends.EndBeside()
		os.Exit(1)
	}()
	log := k.takePlace(loopID)
	defer log.Close()
	windows := door.New()
	l, told, err := k.begin(cmd, folder, loopID, windows, func() { say(begun) })
	if err != nil {
		say(strings.Join(strings.Fields(err.Error()), " "))
		return err
	}
	say(begun)
	debug.SetGCPercent(25) // it stays for long, there may be a hundred, and it has little to do
	time.AfterFunc(time.Second, debug.FreeOSMemory)
	begunLoop <- l
	end := l.Wait()
	signal.Stop(caught) // from here on they end this process
	if info, err := log.Stat(); err == nil && info.Size() == 0 {
		os.Remove(log.Name())
	}
	log.Close() // nobody waits for what is still told
	windows.Finish(end)
	told.Close()
	return nil
}

// takePlace lets others know that the loop has a keeper, for as long as the file is open. Without
// it the moment until it drives the loop looks like an interruption.
func (k *keeper) takePlace(loopID string) *os.File {
	log, err := loop.KeeperLog(loopID)
	if err != nil {
		return nil
	}
	within, cancel := context.WithTimeout(context.Background(), loop.HandoverTime) // who looks for a keeper locks it, too
	defer cancel()
	if filelock.Wait(within, log) == nil {
		_ = log.Truncate(0) // an earlier keeper's
	}
	return log
}

// begin continues the loop, once nobody drives it. waits is called when that has to be waited for.
func (k *keeper) begin(cmd *cobra.Command, folder, loopID string, windows *door.Door, waits func()) (*engine.Loop, *notify.Teller, error) {
	for running := (*loop.AlreadyRunningError)(nil); errors.As(loop.InTheWay(folder), &running); time.Sleep(poll) { // which looks at the lock alone
		if running.Owner.Detached {
			return nil, nil, running
		}
		waits()
	}
	if end, ok := loop.LastIn(folder); ok && end.Status.LoopID == loopID && end.Reason != loop.StopDetached {
		return nil, nil, loop.ErrNotRunning // its user has ended it meanwhile
	}
	found, err := start.FoundIn(folder)
	if err != nil {
		return nil, nil, err
	}
	if found.LoopID != loopID {
		return nil, nil, loop.ErrNotRunning
	}
	files := config.FilesOf(folder, backends.Names())
	files.Trusted = k.trusted
	settings, err := files.Load()
	if err != nil {
		return nil, nil, err
	}
	resolver := start.Resolver{Settings: settings, Attended: true, Detect: start.Installed} // whoever comes may talk to the agent
	cfg, err := resolver.Continue(cmd.Context(), found, files)
	if err != nil {
		return nil, nil, err
	}
	cfg.Folder, cfg.Version, cfg.Alone = folder, k.version, true
	warn := func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) }
	host := start.Host()
	host.Windows, host.Attended = windows.Connect, windows.IsAttended
	l, journal, told, err := notify.Start(cfg, host, notify.Nobody{}, notify.At{Desktop: true, Warn: warn})
	if err == nil { // else this process ends
		windows.Begun(l, journal)
	}
	return l, told, err
}
