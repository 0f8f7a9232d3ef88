package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
)

// LimitParams are the limits and the promise of a loop; nil leaves them as
// they are, or as the defaults have them.
type LimitParams struct {
	MaxIterations          *int     `json:"maxIterations,omitempty"` // 0: unlimited
	CompletionPromise      *string  `json:"completionPromise,omitempty"`
	MaxCostUSD             *float64 `json:"maxCostUsd,omitempty"`
	MaxDurationMs          *int64   `json:"maxDurationMs,omitempty"`
	IdleTimeoutMs          *int64   `json:"idleTimeoutMs,omitempty"`
	MaxConsecutiveFailures *int     `json:"maxConsecutiveFailures,omitempty"`
}

// patch is what the parameters change.
func (p LimitParams) patch() loop.Patch {
	return loop.Patch{
		MaxIterations: p.MaxIterations, Promise: p.CompletionPromise, MaxCostUSD: p.MaxCostUSD,
		MaxDuration: milliseconds(p.MaxDurationMs), IdleTimeout: milliseconds(p.IdleTimeoutMs),
		MaxFailures: p.MaxConsecutiveFailures,
	}
}

func milliseconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(time.Duration(*n) * time.Millisecond)
}

// StartParams is the argument of ralph.loop.start. The prompt is Prompt, the
// content of PromptURI, or in Text, which may also have flags (start.Parse).
type StartParams struct {
	Folder    string   `json:"folder,omitempty"` // file URI
	Prompt    string   `json:"prompt,omitempty"`
	PromptURI string   `json:"promptUri,omitempty"`
	Text      string   `json:"text,omitempty"`
	Backend   string   `json:"backend,omitempty"` // a name, "auto", or a path to a program
	Model     string   `json:"model,omitempty"`
	Args      []string `json:"args,omitempty"`
	Replace   bool     `json:"replace,omitempty"` // cancel or discard the loop that is there
	DryRun    bool     `json:"dryRun,omitempty"`
	LimitParams
}

// StartResult is what a start answers, at once; the loop runs on.
type StartResult struct {
	LoopID         string `json:"loopId"`
	State          string `json:"state"`
	StateFileURI   string `json:"stateFileUri"`
	SessionFileURI string `json:"sessionFileUri,omitempty"`
}

// DryRunResult is what a start would do.
type DryRunResult struct {
	Argv        []string          `json:"argv"`
	Cwd         string            `json:"cwd"`
	PromptBytes int               `json:"promptBytes"`
	Limits      EffectiveLimits   `json:"limits"`
	Sources     map[string]string `json:"sources"` // where each value comes from: "start" or "default"
}

// EffectiveLimits are a loop's limits; 0 is unlimited.
type EffectiveLimits struct {
	MaxIterations          int     `json:"maxIterations"`
	MaxCostUSD             float64 `json:"maxCostUsd"`
	MaxDurationMs          int64   `json:"maxDurationMs"`
	IdleTimeoutMs          int64   `json:"idleTimeoutMs"`
	MaxConsecutiveFailures int     `json:"maxConsecutiveFailures"`
	CompletionPromise      string  `json:"completionPromise,omitempty"`
}

// start starts a loop, or tells what it would do.
func (m *manager) start(ctx context.Context, p StartParams) (any, error) {
	cfg, given, err := m.configOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.DryRun {
		return dryRun(cfg, given)
	}
	if p.Replace {
		if err := m.clear(ctx, cfg.Folder); err != nil {
			return nil, err
		}
	}
	r, err := m.launch(cfg)
	if decide := m.decisionFor(err, cfg); decide != nil { // a client without a plugin has nobody else to ask
		r, err = decide(ctx)
	}
	if err != nil {
		return nil, err
	}
	st := r.Status()
	return StartResult{LoopID: st.LoopID, State: string(st.State), StateFileURI: FileURI(st.StateFile), SessionFileURI: sessionURI(st)}, nil
}

// configOf makes a loop's configuration of a start's parameters. given are
// the limits that it names.
func (m *manager) configOf(ctx context.Context, p StartParams) (loop.Config, loop.Patch, error) {
	given := p.patch()
	cfg := loop.Config{Version: m.version}
	var err error
	if cfg.Folder, err = m.folderPath(p.Folder); err != nil {
		return cfg, given, err
	}
	if info, err := os.Stat(cfg.Folder); err != nil || !info.IsDir() {
		return cfg, given, failed(ReasonNoFolder, fmt.Errorf("there is no folder %s", cfg.Folder), nil)
	}
	agent := start.Agent{Name: p.Backend, Model: p.Model, Args: p.Args}
	if cfg.Prompt, err = m.readPrompt(p); err != nil {
		return cfg, given, err
	}
	if p.Text != "" {
		request, err := start.Parse(p.Text)
		if err != nil {
			return cfg, given, errf(codeInvalidParams, "%v", err)
		}
		cfg.Prompt = cmp.Or(request.Prompt, cfg.Prompt)
		cfg.Quiet = request.Quiet
		given = overlay(request.Limits, given)
		agent.Name, agent.Model = cmp.Or(p.Backend, request.Agent.Name), cmp.Or(p.Model, request.Agent.Model)
		agent.Args = append(request.Agent.Args, p.Args...)
		agent.Output, agent.Prompt = request.Agent.Output, request.Agent.Prompt
	}
	cfg.Args, cfg.Model = agent.Args, agent.Model
	cfg.Limits, cfg.Promise = given.Over(loop.DefaultLimits(), "")
	if err := cfg.Limits.Check(); err != nil {
		return cfg, given, errf(codeInvalidParams, "%v", err)
	}
	cfg.Backend, err = m.backend(ctx, agent)
	return cfg, given, err
}

// overlay is a where b says nothing.
func overlay(a, b loop.Patch) loop.Patch {
	return loop.Patch{
		MaxIterations: cmp.Or(b.MaxIterations, a.MaxIterations), Promise: cmp.Or(b.Promise, a.Promise),
		MaxCostUSD: cmp.Or(b.MaxCostUSD, a.MaxCostUSD), MaxDuration: cmp.Or(b.MaxDuration, a.MaxDuration),
		IdleTimeout: cmp.Or(b.IdleTimeout, a.IdleTimeout), MaxFailures: cmp.Or(b.MaxFailures, a.MaxFailures),
	}
}

// readPrompt returns the prompt that is given itself, or the one in a document,
// as the editor has it when it's open there.
func (m *manager) readPrompt(p StartParams) (string, error) {
	if p.PromptURI == "" {
		return p.Prompt, nil
	}
	if p.Prompt != "" {
		return "", errf(codeInvalidParams, "there are two prompts: give prompt or promptUri")
	}
	path, err := PathOf(p.PromptURI)
	if err != nil {
		return "", errf(codeInvalidParams, "promptUri: %v", err)
	}
	if text, open := m.docs.openText(p.PromptURI); open {
		return promptIn(path, text), nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", failed(ReasonEmptyPrompt, fmt.Errorf("there is no file %s: save it first", path), nil)
	}
	return promptIn(path, string(data)), err
}

// backend chooses the agent; what was found at the start is not looked for again.
func (m *manager) backend(ctx context.Context, agent start.Agent) (backends.Backend, error) {
	if agent.Name == "" || agent.Name == "auto" {
		m.mu.Lock()
		probes := m.probes
		m.mu.Unlock()
		for _, name := range backends.Names() {
			if p, ok := probes[name]; ok && p.Err == nil {
				return p.Backend, nil
			}
		}
	}
	return agent.Choose(ctx, "")
}

// dryRun tells what a start would do.
func dryRun(cfg loop.Config, given loop.Patch) (any, error) {
	argv, prompt, err := cfg.DryRun()
	if err != nil {
		return nil, err
	}
	l := cfg.Limits
	source := func(given bool) string {
		if given {
			return "start"
		}
		return "default"
	}
	return DryRunResult{
		Argv: argv, Cwd: cfg.Folder, PromptBytes: len(prompt),
		Limits: EffectiveLimits{
			MaxIterations: l.MaxIterations, MaxCostUSD: l.MaxCostUSD, MaxDurationMs: l.MaxDuration.Milliseconds(),
			IdleTimeoutMs: l.IdleTimeout.Milliseconds(), MaxConsecutiveFailures: l.MaxFailures, CompletionPromise: cfg.Promise,
		},
		Sources: map[string]string{
			"maxIterations": source(given.MaxIterations != nil), "maxCostUsd": source(given.MaxCostUSD != nil),
			"maxDurationMs": source(given.MaxDuration != nil), "idleTimeoutMs": source(given.IdleTimeout != nil),
			"maxConsecutiveFailures": source(given.MaxFailures != nil), "completionPromise": source(given.Promise != nil),
		},
	}, nil
}

// clear ends the loop in a folder, whoever drives it, and discards one that nobody does.
func (m *manager) clear(ctx context.Context, path string) error {
	m.mu.Lock()
	var running *managed
	if f := m.folders[path]; f != nil {
		running = f.running
	}
	m.mu.Unlock()
	if running != nil {
		running.Cancel()
		return nil
	}
	_, err := loop.CancelFolder(ctx, path)
	if errors.Is(err, loop.ErrNotRunning) {
		return nil
	}
	return err
}
