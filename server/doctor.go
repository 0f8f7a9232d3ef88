package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/loopstate"
)

// Check is one finding of the doctor.
type Check struct {
	ID       string `json:"id"`
	OK       bool   `json:"ok"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Optional bool   `json:"-"` // fine without: not every agent is installed
}

// Examine checks that loops can run in a folder, "" for none. A failed check
// that isn't optional keeps them from running.
func Examine(ctx context.Context, version, dir string) []Check {
	checks := []Check{{ID: "version", OK: true, Message: fmt.Sprintf("ralph-lsp %s, %s/%s", version, runtime.GOOS, runtime.GOARCH)}}
	checks = append(checks, backendChecks(backends.ProbeAll(ctx))...)
	if dir != "" {
		checks = append(checks, checkFolder(dir), checkState(dir))
	}
	return append(checks, checkLimits(loop.DefaultLimits()))
}

// backendChecks has a line per agent, and one that says whether any is there.
func backendChecks(probes []backends.Probe) []Check {
	var checks []Check
	found := ""
	for _, probe := range probes {
		c := Check{ID: "backend." + probe.Backend.Name, OK: probe.Err == nil, Optional: true}
		missing := (*backends.NotFoundError)(nil)
		switch {
		case probe.Err == nil:
			c.Message = fmt.Sprintf("%s %s at %s", probe.Backend.Name, oneLine(probe.Version), probe.Path)
			if found == "" {
				found = probe.Backend.Name
			}
		case errors.As(probe.Err, &missing):
			c.Message, c.Fix = probe.Backend.Name+" is not installed", probe.Backend.Install
		default:
			c.Message, c.Fix = fmt.Sprintf("%s at %s: %s", probe.Backend.Name, probe.Path, oneLine(probe.Err.Error())), probe.Backend.Install
		}
		checks = append(checks, c)
	}
	any := Check{ID: "backend", OK: found != "", Message: "without a choice of yours, " + found + " is used"}
	if found == "" {
		any.Message = "no agent is installed (searched PATH " + os.Getenv("PATH") + ")"
		any.Fix = "install one, or name a program with run --backend ./PROGRAM"
	}
	return append(checks, any)
}

// checkFolder tries to write where the state file goes.
func checkFolder(dir string) Check {
	c := Check{ID: "folder", OK: true, Message: "the folder " + dir + " is writable"}
	probe, err := os.CreateTemp(dir, ".ralph-lsp-doctor-*")
	if err != nil {
		c.OK, c.Message = false, "the folder "+dir+" is not writable: "+oneLine(err.Error())
		c.Fix = "change its permissions, or use another folder"
		return c
	}
	probe.Close()
	os.Remove(probe.Name())
	return c
}

// checkState looks at the state file, if there is one, and at who drives it.
func checkState(dir string) Check {
	c := Check{ID: "state"}
	file, err := loopstate.Open(dir)
	if err != nil {
		c.Message, c.Fix = oneLine(err.Error()), "move it away"
		return c
	}
	owner, owned, err := file.Owner()
	if err != nil {
		c.Message, c.Fix = oneLine(err.Error()), "see the lock file beside the state file"
		return c
	}
	state, err := file.Load()
	at := OfMax(state.Iteration, state.MaxIterations)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.OK, c.Message = true, "no loop in the folder"
	case err != nil:
		c.Message, c.Fix = oneLine(err.Error()), "mend that line, or delete the file"
	case owned:
		c.OK = true
		c.Message = fmt.Sprintf("a loop at iteration %s, driven by process %d on %s since %s", at, owner.PID, owner.Host, owner.StartedAt.Local().Format(time.DateTime))
	default:
		c.Optional = true
		c.Message = fmt.Sprintf("a loop that was interrupted at iteration %s: %s", at, file.Path())
		c.Fix = "go on with ralph-lsp resume, or discard it with ralph-lsp cancel"
	}
	return c
}

// checkLimits tells what a loop gets that says nothing.
func checkLimits(l loop.Limits) Check {
	cost := "no cost limit"
	if l.MaxCostUSD > 0 {
		cost = fmt.Sprintf("$%.2f", l.MaxCostUSD)
	}
	return Check{ID: "limits", OK: true, Message: fmt.Sprintf("limits: %d iterations, %s, %v of running, %v of silence, %d failures in a row (built in)",
		l.MaxIterations, cost, start.ShortDuration(l.MaxDuration), start.ShortDuration(l.IdleTimeout), l.MaxFailures)}
}

// DoctorResult is what the doctor found.
type DoctorResult struct {
	Checks []Check `json:"checks"`
}

// doctor checks the folder that is named, or the workspace's only one.
func (m *manager) doctor(ctx context.Context, p FolderParams) (any, error) {
	path, err := m.folderPath(p.Folder)
	if err != nil && p.Folder != "" {
		return nil, err
	}
	return DoctorResult{Examine(ctx, m.version, path)}, nil
}

// HelpResult is the help as markdown.
type HelpResult struct {
	Markdown string `json:"markdown"`
}

func (m *manager) help(context.Context, struct{}) (any, error) { return HelpResult{helpText}, nil }

// helpText is what an editor shows of help.
const helpText = `# Ralph loops

An agent (pi, claude, or a program of yours) gets the same prompt again and again, each time with a fresh
context, until it promises that it is done or a limit is reached.

- **Start** with a prompt. The loop is done when the agent's last message holds ` + "`<promise>DONE</promise>`" + ` (the text is
  yours), or ends with the word ` + "`LOOP_COMPLETE`" + `.
- **Limits**: 50 iterations, 4 hours of running, 10 minutes of silence, 5 failures in a row, unless you say
  otherwise; a budget in dollars if you give one. All of them can be changed while the loop runs.
- **Pause** finishes the running iteration; **resume** goes on, or ends a wait. **Steer** tells the next run something.
- **Cancel** ends the agent and everything it started, and answers when all of it is gone.
- The loop's state is in ` + "`.pi/ralph-loop.local.md`" + `: edit the prompt or the limits there, or delete the file to end the loop.
- If the editor goes away, the loop is interrupted and can be continued at the same iteration.

The text of a start may have flags: ` + "`/ralph-loop \"Build X\" --completion-promise \"DONE\" --max-iterations=20`" + `.
Others are --backend, --backend-arg, --model, --max-cost, --max-time, --idle-timeout, --max-failures, --no-instruct.
`
