package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Doctor checks that loops can run in a folder, "" for none, and says what is missing. version is that
// of the program, also are checks of the caller's. A failed check that isn't optional keeps loops from running.
func (s *Service) Doctor(ctx context.Context, version, folder string, also ...answers.Check) answers.DoctorResult {
	files := s.Files(folder)
	checks := []answers.Check{{ID: "version", OK: true, Message: fmt.Sprintf("ralph-lsp %s, %s/%s", version, runtime.GOOS, runtime.GOARCH)}}
	if backends.Unheld != "" {
		checks = append(checks, answers.Check{ID: "processes", Optional: true, Message: backends.Unheld})
	}
	settings, err := files.Load()
	agents, choice := backendChecks(backends.ProbeAll(backends.ForLoop(ctx, settings.Sandbox, files.Folder)))
	if err == nil && settings.Backend != config.Auto { // what is installed doesn't choose
		choice = checkChoice(ctx, settings)
	}
	for i := range agents {
		agents[i].Minor = agents[i].Minor && choice.OK
	}
	checks = append(append(checks, agents...), choice)
	if dir := files.Folder; dir != "" {
		checks = append(checks, checkFolder(dir), checkState(dir))
	}
	checks = append(checks, configChecks(settings, err)...)
	if err == nil {
		checks = append(checks, CheckSandbox(ctx, settings))
		checks = append(checks, verifyChecks(ctx, settings)...)
	}
	if dir := files.Folder; dir != "" && err == nil {
		checks = append(checks, promiseChecks(dir, settings)...)
		checks = append(checks, snapshotChecks(dir, settings)...)
	}
	if s.Remote != nil {
		checks = append(checks, s.Remote.Check(ctx))
	}
	return answers.DoctorResultOf(append(checks, also...))
}

// promiseChecks tells which promise the configured prompt names, where that counts.
func promiseChecks(dir string, settings config.Settings) []answers.Check {
	if settings.Source("completion.promise") != "" {
		return nil
	}
	path, err := settings.PromptPath(dir)
	if err != nil {
		return nil // a start says why
	}
	prompt, err := start.ReadText(path)
	if err != nil {
		return nil
	}
	if why, _ := setup.StrayPromises(prompt, start.PromiseOf(prompt)); why != "" {
		return []answers.Check{{ID: "prompt", Optional: true, Message: wire.Whole(path + ": " + why),
			Fix: "say which one counts: [completion] promise in " + config.Name + ", or --completion-promise"}}
	}
	promise := start.PromiseOf(prompt)
	if promise == "" {
		return nil
	}
	return []answers.Check{{ID: "setting.completion.promise", OK: true,
		Message: fmt.Sprintf("completion.promise = %q (%s, %s)", wire.OneLine(promise), wire.SourceText[config.FromPrompt], filepath.Base(path))}}
}

// verifyChecks tells what a promise has to pass, who wants that, and what is missing for it.
func verifyChecks(ctx context.Context, settings config.Settings) []answers.Check {
	check := settings.Verify
	by := wire.VerifiedBy(check, func(g verify.Gate) string { return " (" + wire.SourceText[settings.Source("verify."+string(g))] + ")" })
	if by == "" {
		return []answers.Check{{ID: "verify", OK: true, Message: "nothing verifies a promise: the agent's word counts"}}
	}
	checks := []answers.Check{{ID: "verify", OK: true, Message: "a promise is verified by " + by}}
	if _, err := check.Find(settings.Files.Folder); err != nil {
		checks = append(checks, answers.Check{ID: "verify.command", Message: wire.OneLine(err.Error())})
	}
	reviewer, err := start.Resolver{Settings: settings, Detect: start.Installed}.Reviewer(ctx, check)
	if err == nil && check.Has(verify.ReviewerGate) {
		_, err = reviewer.Backend.Find()
	}
	if err != nil {
		checks = append(checks, answers.Check{ID: "verify.reviewer", Message: wire.OneLine(err.Error()),
			Fix: cmp.Or(reviewer.Backend.Install, "describe it below [hats] in "+config.Name)})
	}
	if check.Has(verify.ProtectGate) && settings.Changes.Keep == 0 {
		checks = append(checks, answers.Check{ID: "verify.protect", Optional: true, Message: "without snapshots, changes of " +
			"protected files can't be seen, so each promise waits until you accept it", Fix: `say changes.keep = "30d" in ` + config.Name})
	}
	if check.Has(verify.DiagnosticsGate) {
		checks = append(checks, answers.Check{ID: "verify.diagnostics", OK: true, Message: "the editor's diagnostics need an " +
			"attached editor; without one, each promise waits until you accept it"})
	}
	return checks
}

// backendChecks has a line per agent, in which a missing one is minor, and one that says whether any is there.
func backendChecks(probes []backends.Probe) (checks []answers.Check, any answers.Check) {
	found := ""
	for _, probe := range probes {
		c := answers.Check{ID: "backend." + probe.Backend.Name, OK: probe.Err == nil, Optional: true}
		missing := (*backends.NotFoundError)(nil)
		switch {
		case probe.Err == nil:
			c.Message = strings.TrimSpace(probe.Backend.Name+" "+wire.OneLine(probe.Version)) + " at " + probe.Path
			if probe.Backend.Paid != "" {
				c.Message += "; " + probe.Backend.Paid
			}
			if found == "" {
				found = probe.Backend.Name
			}
		case errors.As(probe.Err, &missing):
			c.Message, c.Fix, c.Minor = probe.Backend.Name+" is not installed", probe.Backend.HowToInstall(), true
		case errors.Is(probe.Err, backends.ErrNoAnswer):
			c.Message = fmt.Sprintf("%s at %s: %s", probe.Backend.Name, probe.Path, wire.OneLine(probe.Err.Error()))
			c.Fix = "run it yourself to see why; on a busy machine it may work all the same"
		default:
			c.Message, c.Fix = fmt.Sprintf("%s at %s: %s", probe.Backend.Name, probe.Path, wire.OneLine(probe.Err.Error())),
				probe.Backend.HowToInstall()
		}
		checks = append(checks, c)
	}
	any = answers.Check{ID: "backend", OK: found != "", Message: "without a choice of yours, " + found + " is used"}
	if found == "" {
		any.Message = "no agent is installed (searched PATH " + os.Getenv("PATH") + ")"
		any.Fix = "install one, or name a program with run --backend ./PROGRAM"
	}
	return checks, any
}

// checkChoice looks for the backend that the configuration names.
func checkChoice(ctx context.Context, settings config.Settings) answers.Check {
	c := answers.Check{ID: "backend"}
	cfg, sources, err := start.Resolver{Settings: settings, Detect: start.Installed}.Resolve(ctx)
	if err != nil {
		c.Message = wire.Whole(err.Error())
		return c
	}
	program, err := cfg.Backend.Find()
	if err != nil {
		c.Message, c.Fix = wire.Whole(err.Error()), cfg.Backend.HowToInstall()
		return c
	}
	c.OK, c.Message = true, fmt.Sprintf("%s is used: %s (%s)", cfg.Backend.Name, program, wire.SourceText[sources["backend"]])
	return c
}

// checkFolder tries to write where the state file goes.
func checkFolder(dir string) answers.Check {
	c := answers.Check{ID: "folder", OK: true, Message: "the folder " + dir + " is writable"}
	probe, err := os.CreateTemp(dir, ".ralph-lsp-doctor-*")
	if err != nil {
		c.OK, c.Message = false, "the folder "+dir+" is not writable: "+wire.Whole(err.Error())
		c.Fix = "change its permissions, or use another folder"
		return c
	}
	probe.Close()
	os.Remove(probe.Name())
	return c
}

// checkState looks at the state file, if there is one, and at who drives it.
func checkState(dir string) answers.Check {
	c := answers.Check{ID: "state"}
	file, err := loopstate.Open(dir)
	if err != nil {
		c.Message, c.Fix = wire.Whole(err.Error()), "move it away"
		return c
	}
	owner, owned, err := file.Owner()
	if err != nil {
		c.Message, c.Fix = wire.Whole(err.Error()), "see the lock file beside the state file"
		return c
	}
	state, err := file.Load()
	at := format.OfMax(state.Iteration, state.Limits().MaxIterations)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.OK, c.Message = true, "no loop in the folder"
	case err != nil:
		c.Message, c.Fix = wire.Whole(err.Error()), "mend that line, or delete the file"
	case owned:
		c.OK = true
		c.Message = fmt.Sprintf("a loop at iteration %s, driven by process %s", at, owner.Words())
	default:
		c.Optional = true
		c.Message = fmt.Sprintf("a loop that %s: %s",
			wire.HowLeft((&loop.InterruptedError{State: state}).Reason(), "at iteration "+at), file.Path()) +
			wire.LeftRunningText("; ", owner.LeftRunning())
		c.Fix = "go on with ralph-lsp resume, or discard it with ralph-lsp cancel"
	}
	return c
}

// configChecks tells what is wrong with the files, or else what they and the
// built-in values say together, and who says it.
func configChecks(settings config.Settings, err error) []answers.Check {
	var invalid *config.InvalidError
	var untrusted *config.UntrustedError
	switch {
	case errors.As(err, &invalid):
		var checks []answers.Check
		for _, p := range invalid.Problems {
			checks = append(checks, answers.Check{ID: "config",
				Message: fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, wire.Whole(p.Message)), Fix: "mend it: no loop starts until then"})
		}
		return checks
	case errors.As(err, &untrusted):
		return []answers.Check{{ID: "config", Optional: true, Message: wire.OneLine(untrusted.Error()),
			Fix: "if you trust that, say so with ralph-lsp trust"}}
	case err != nil:
		return []answers.Check{{ID: "config", Message: wire.Whole(err.Error())}}
	}
	var checks []answers.Check
	for _, h := range settings.Held {
		counts := ""
		if h.Counts != "" {
			counts = ": " + h.Counts + " counts"
		}
		fix := "if you trust the file, say so with ralph-lsp trust"
		if h.Users {
			fix = "write it into your own " + config.UserName
		}
		checks = append(checks, answers.Check{ID: "config", Optional: true,
			Message: wire.Whole(fmt.Sprintf("%s in the folder's %s is not taken%s", h.Line, config.Name, counts)), Fix: fix})
	}
	for _, v := range settings.Values() {
		checks = append(checks, answers.Check{ID: "setting." + v.Key, OK: true, Minor: v.Source == config.FromDefault,
			Message: fmt.Sprintf("%s = %s (%s)", v.Key, wire.OneLine(v.Text), wire.SourceText[v.Source])})
	}
	return checks
}
