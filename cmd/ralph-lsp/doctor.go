package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/loopstate"
)

// check is one finding of the doctor, as the wire has it.
type check struct {
	ID       string `json:"id"`
	OK       bool   `json:"ok"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Optional bool   `json:"-"` // fine without: not every agent is installed
}

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that a loop can run here",
		Args:  noArguments,
	}
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object")
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		out := cmd.OutOrStdout()
		checks := examine(cmd, dir)
		if *asJSON {
			return printJSON(out, map[string][]check{"checks": checks})
		}
		return printChecks(out, paletteFor(out), checks)
	})
	return cmd
}

// examine makes all checks. A failed one that isn't optional keeps loops from running.
func examine(cmd *cobra.Command, dir string) []check {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	checks := []check{{ID: "version", OK: true, Message: fmt.Sprintf("ralph-lsp %s, %s/%s", programVersion(), runtime.GOOS, runtime.GOARCH)}}
	checks = append(checks, backendChecks(backends.ProbeAll(ctx))...)
	return append(checks, checkFolder(dir), checkState(dir), checkTerminal(cmd.OutOrStdout()))
}

// backendChecks has a line per agent, and one that says whether any is there.
func backendChecks(probes []backends.Probe) []check {
	var checks []check
	found := ""
	for _, probe := range probes {
		c := check{ID: "backend." + probe.Backend.Name, OK: probe.Err == nil, Optional: true}
		missing := (*backends.NotFoundError)(nil)
		switch {
		case probe.Err == nil:
			c.Message = fmt.Sprintf("%s %s at %s", probe.Backend.Name, plainLine(probe.Version), probe.Path)
			found = orElse(found, probe.Backend.Name)
		case errors.As(probe.Err, &missing):
			c.Message, c.Fix = probe.Backend.Name+" is not installed", probe.Backend.Install
		default:
			c.Message, c.Fix = fmt.Sprintf("%s at %s: %s", probe.Backend.Name, probe.Path, plainLine(probe.Err.Error())), probe.Backend.Install
		}
		checks = append(checks, c)
	}
	any := check{ID: "backend", OK: found != "", Message: "without --backend, " + found + " is used"}
	if found == "" {
		any.Message = "no agent is installed (searched PATH " + os.Getenv("PATH") + ")"
		any.Fix = "install one, or name a program with run --backend ./PROGRAM"
	}
	return append(checks, any)
}

// checkFolder tries to write where the state file goes.
func checkFolder(dir string) check {
	c := check{ID: "folder", OK: true, Message: "the folder " + dir + " is writable"}
	probe, err := os.CreateTemp(dir, ".ralph-lsp-doctor-*")
	if err != nil {
		c.OK, c.Message, c.Fix = false, "the folder "+dir+" is not writable: "+plainLine(err.Error()), "change its permissions, or use another with -C"
		return c
	}
	probe.Close()
	os.Remove(probe.Name())
	return c
}

// checkState looks at the state file, if there is one, and at who drives it.
func checkState(dir string) check {
	c := check{ID: "state"}
	file, err := loopstate.Open(dir)
	if err != nil {
		c.Message, c.Fix = plainLine(err.Error()), "move it away"
		return c
	}
	owner, owned, err := file.Owner()
	if err != nil {
		c.Message, c.Fix = plainLine(err.Error()), "see the lock file beside the state file"
		return c
	}
	state, err := file.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.OK, c.Message = true, "no loop in the folder"
	case err != nil:
		c.Message, c.Fix = plainLine(err.Error()), "mend that line, or remove the file with ralph-lsp cancel"
	case owned:
		c.OK, c.Message = true, fmt.Sprintf("a loop at iteration %s, driven by process %s", ofMax(state.Iteration, state.MaxIterations), ownerWords(owner))
	default:
		c.Optional = true
		c.Message = fmt.Sprintf("a loop that was interrupted at iteration %s: %s", ofMax(state.Iteration, state.MaxIterations), file.Path())
		c.Fix = "go on with ralph-lsp resume, or discard it with ralph-lsp cancel"
	}
	return c
}

func checkTerminal(out io.Writer) check {
	c := check{ID: "terminal", OK: true, Message: "the output is no terminal: plain text"}
	if f, ok := isTerminal(out); ok {
		colour := "colour"
		if !paletteFor(out).on {
			colour = "no colour"
		}
		c.Message = fmt.Sprintf("a terminal of %d columns, %s (TERM=%s)", widthOf(f)(), colour, os.Getenv("TERM"))
	}
	return c
}

func printChecks(out io.Writer, p palette, checks []check) error {
	problems := 0
	for _, c := range checks {
		mark := p.green("✓")
		switch {
		case !c.OK && c.Optional:
			mark = p.yellow("–")
		case !c.OK:
			mark = p.red("✗")
			problems++
		}
		fmt.Fprintf(out, "%s %s\n", mark, c.Message)
		if !c.OK && c.Fix != "" {
			fmt.Fprintf(out, "  %s\n", p.dim(c.Fix))
		}
	}
	if problems > 0 {
		return &exitError{code: exitFailed, message: counted(problems, "problem") + " found, marked ✗ above; a loop can't run before that is mended"}
	}
	return nil
}
