package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
	"ralph-lsp/wire"
)

// stateIdle is the wire's word for a folder without a loop.
const stateIdle loop.State = "idle"

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show where the loop in the folder stands",
		Args:  noArguments,
	}
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object")
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		status, owner, owned, err := loop.FolderStatus(dir)
		if errors.Is(err, fs.ErrNotExist) {
			status, err = loop.Status{Folder: dir, State: stateIdle}, nil
		}
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if *asJSON {
			return printJSON(out, wire.StatusOf(status, false)) // never ours: it is another process's
		}
		printStatus(out, paletteFor(out), status, owner, owned, time.Now())
		return nil
	})
	return cmd
}

// printJSON prints a value in one line. What agents and files wrote stays readable:
// nothing is escaped for HTML, and all that could change a terminal is.
func printJSON(out io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = out.Write(escapeHidden(line.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// printStatus says where a loop stands, a fact per line. All of it is read from the
// state file, which knows what was spent up to the last turn only.
func printStatus(out io.Writer, p palette, st loop.Status, owner loopstate.Owner, owned bool, now time.Time) {
	if st.State == stateIdle {
		fmt.Fprintf(out, "no loop in %s; start one with ralph-lsp run\n", plainLine(st.Folder))
		return
	}
	fmt.Fprintln(out, p.bold("Ralph "+tell.OfMax(st.Iteration, st.Limits.MaxIterations))+"  "+p.cyan(plainLine(stateWords(st, now))))
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "  %s %s\n", p.dim(fmt.Sprintf("%-9s", name)), plainLine(value))
		}
	}
	fact("folder", st.Folder)
	fact("agent", wire.JoinFacts(st.Session.Backend, st.Session.Model))
	fact("promise", st.Promise)
	fact("cost", costWords(st, owned)+ofLimit(st.Limits))
	fact("time", clock(st.Elapsed)+atLastTurn(owned)+ofTime(st.Limits))
	if owned {
		fact("process", ownerWords(owner))
	}
	if !st.EndedAt.IsZero() {
		fact("ended", st.EndedAt.Local().Format(time.DateTime))
	}
	fact("file", st.StateFile)
	fact("error", st.Error)
	if !owned {
		fmt.Fprintln(out, "no process drives it; go on with ralph-lsp resume, or discard it with ralph-lsp cancel")
	}
}

// costWords say what a loop has cost as far as its file tells.
func costWords(st loop.Status, owned bool) string {
	if st.Cost.Known {
		return wire.CostText(st.Cost, false) + atLastTurn(owned)
	}
	if b, err := backends.Lookup(st.Session.Backend); err == nil && b.Output.HasCost() && owned && st.Iteration <= 1 {
		return "unknown until this iteration ends"
	}
	return "unknown"
}

func atLastTurn(owned bool) string {
	if owned {
		return " at its last turn"
	}
	return ""
}

func stateWords(st loop.Status, now time.Time) string {
	switch {
	case st.State == loop.StateWaiting && st.Retry != nil:
		return wire.WaitText(st.Retry.Reason, st.Retry.ResumeAt, now)
	case st.State == loop.StateFailed:
		return st.StopReason.Ending().String()
	}
	return string(st.State)
}

func ofLimit(l loop.Limits) string {
	if l.MaxCostUSD == 0 {
		return ""
	}
	return ", of " + tell.USD(l.MaxCostUSD)
}

func ofTime(l loop.Limits) string {
	if l.MaxDuration == 0 {
		return ""
	}
	return ", of " + tell.Duration(l.MaxDuration)
}

// ownerWords name the process that drives a loop.
func ownerWords(o loopstate.Owner) string {
	if o.PID == 0 {
		return "unknown"
	}
	words := fmt.Sprintf("%d on %s", o.PID, o.Host)
	if !o.StartedAt.IsZero() {
		words += " since " + o.StartedAt.Local().Format(time.DateTime)
	}
	return words
}
