package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/config"
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

// checkLimitParams refuses what no loop can have, whatever it has now.
func checkLimitParams(p LimitParams) error {
	for _, ms := range []struct {
		key string
		n   *int64
	}{{"maxDurationMs", p.MaxDurationMs}, {"idleTimeoutMs", p.IdleTimeoutMs}} {
		if ms.n != nil && (*ms.n < 0 || *ms.n > maxMilliseconds) {
			return invalidKey(ms.key, "%s is %d: give milliseconds up to %d, or 0 for no limit", ms.key, *ms.n, int64(maxMilliseconds))
		}
	}
	return checkLimits(p.patch().Over(loop.Limits{}, ""))
}

// maxMilliseconds is the longest time that a duration can hold.
const maxMilliseconds = math.MaxInt64 / int64(time.Millisecond)

// checkLimits refuses limits and a promise that make no sense.
func checkLimits(l loop.Limits, promise string) error {
	if err := l.Check(); err != nil {
		return errf(codeInvalidParams, "%v", err)
	}
	if why := config.CheckPromise(promise); why != "" {
		return invalidKey("completionPromise", "the completion promise %s", why)
	}
	return nil
}

func milliseconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(time.Duration(*n) * time.Millisecond)
}

// StartParams is the argument of ralph.loop.start. The prompt is Prompt, the
// content of PromptURI, in Text, which may also have flags (start.Parse), or
// else in the configured prompt file.
type StartParams struct {
	Folder    string `json:"folder,omitempty"` // file URI
	Prompt    string `json:"prompt,omitempty"`
	PromptURI string `json:"promptUri,omitempty"`
	Text      string `json:"text,omitempty"`
	Selection string `json:"selection,omitempty"` // stands behind the prompt of Text, or is the prompt
	Choices
	Replace  bool     `json:"replace,omitempty"` // cancel or discard the loop that is there
	Trust    bool     `json:"trust,omitempty"`   // the user trusts what the folder's ralph.toml would run, as it is now
	DryRun   bool     `json:"dryRun,omitempty"`
	Settings *Choices `json:"settings,omitempty"` // of the editor: the start wins over them, they over the files
}

// Choices are what both a start and the editor's settings may say.
type Choices struct {
	Backend string   `json:"backend,omitempty"` // a name, "auto", or a path to a program
	Hat     string   `json:"hat,omitempty"`
	Model   string   `json:"model,omitempty"`
	Args    []string `json:"args,omitempty"`
	LimitParams
}

// options are the choices as a start understands them.
func (c Choices) options() start.Options {
	return start.Options{
		Agent:  start.Agent{Name: c.Backend, Hat: c.Hat, Model: c.Model, Args: c.Args},
		Limits: c.patch(),
	}
}

// StartResult is what a start answers, at once; the loop runs on.
type StartResult struct {
	LoopID         string   `json:"loopId"`
	State          string   `json:"state"`
	StateFileURI   string   `json:"stateFileUri"`
	SessionFileURI string   `json:"sessionFileUri,omitempty"`
	Warnings       []string `json:"warnings,omitempty"` // what the user should know; updates tell it as well
}

// DryRunResult is what a start would do.
type DryRunResult struct {
	Argv        []string        `json:"argv"`
	Cwd         string          `json:"cwd"`
	PromptBytes int             `json:"promptBytes"`
	Limits      EffectiveLimits `json:"limits"`
	Hat         string          `json:"hat,omitempty"`
	Sources     start.Sources   `json:"sources"` // where each value comes from
	Warnings    []string        `json:"warnings,omitempty"`
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
	folder, err := m.startFolder(p.Folder)
	if err != nil {
		return nil, err
	}
	request, err := p.typed()
	if err != nil {
		return nil, errf(codeInvalidParams, "%v", err)
	}
	if request.Slash != "" {
		return m.slash(ctx, request.Slash, p)
	}
	files := m.files(folder)
	var settings config.Settings
	err = m.withTrust(ctx, p.Trust, func() error {
		settings, err = loadSettings(files)
		if err == nil && p.Trust && settings.Trust != nil {
			return settings.Trust
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	cfg, sources, err := m.configOf(ctx, p, request, folder, settings)
	if err != nil {
		return nil, err
	}
	argv, prompt, err := CheckStart(cfg)
	if err != nil {
		return nil, err
	}
	if p.DryRun {
		return m.dryRun(cfg, argv, prompt, sources), nil
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
	turnOf(ctx).end()
	start.Remember(files, cfg, r.Status().LoopID)
	r.feed.progress.awaitBegin(ctx)
	st := r.Status()
	return StartResult{LoopID: st.LoopID, State: string(st.State), StateFileURI: FileURI(st.StateFile), SessionFileURI: sessionURI(st), Warnings: m.warn(cfg)}, nil
}

// maxWarning is how long a warning of a start is at most, in runes.
const maxWarning = 1000

// warn returns what the user should know about a start. A client without a
// plugin shows no answers, so it is told in messages as well.
func (m *manager) warn(cfg loop.Config) []string {
	warnings := make([]string, len(cfg.Warnings))
	for i, warning := range cfg.Warnings {
		warnings[i] = lineOf(warning, maxWarning)
		if !m.ed.Client().OptedIn {
			m.show(messageWarning, "Ralph: "+warnings[i])
		}
	}
	return warnings
}

// startFolder returns the folder that a start names; it must be there.
func (m *manager) startFolder(uri string) (string, error) {
	path, err := m.folderPath(uri)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", failed(ReasonNoFolder, fmt.Errorf("there is no folder %s", path), nil)
	}
	return path, nil
}

// configOf makes a loop's configuration of a start's parameters, and tells
// where its values come from.
func (m *manager) configOf(ctx context.Context, p StartParams, request start.Request, folder string, settings config.Settings) (loop.Config, start.Sources, error) {
	resolver := start.Resolver{Start: p.options(), Settings: settings, Detect: m.detect}
	if err := checkLimitParams(p.LimitParams); err != nil {
		return loop.Config{}, nil, err
	}
	if p.Settings != nil {
		resolver.Editor = p.Settings.options()
		if err := checkLimitParams(p.Settings.LimitParams); err != nil {
			return loop.Config{}, nil, err
		}
	}
	prompt, says, err := m.readPrompt(p)
	if err != nil {
		return loop.Config{}, nil, err
	}
	promptFrom := config.FromStart
	if p.PromptURI == "" {
		prompt = cmp.Or(prompt, request.Prompt)
	}
	resolver.Start = resolver.Start.Over(request.Options)
	if prompt != "" && p.Selection != "" {
		prompt += "\n\n"
	}
	prompt += p.Selection
	_, state, _ := loop.StateIn(folder) // without one, no loop is known
	warnings := resolver.Adopt(says, m.files(folder).KnowsLoop(state.LoopID))
	if prompt == "" && p.PromptURI == "" {
		if prompt, err = m.configuredPrompt(folder, settings); err != nil {
			return loop.Config{}, nil, err
		}
		promptFrom = settings.Source("prompt_file")
	}
	resolver.Prompt = prompt
	cfg, sources, err := resolver.Resolve(ctx)
	if noModel := (*start.NoModelError)(nil); errors.As(err, &noModel) {
		return loop.Config{}, nil, invalidKey("model", "%v: say it with args", err)
	}
	if badArgument := (*start.ArgumentError)(nil); errors.As(err, &badArgument) {
		return loop.Config{}, nil, invalidKey("args", "%v", err)
	}
	if err != nil {
		return loop.Config{}, nil, err
	}
	if err := checkLimits(cfg.Limits, cfg.Promise); err != nil {
		return loop.Config{}, nil, err
	}
	sources["prompt"] = promptFrom
	cfg.Folder, cfg.Version, cfg.Warnings = folder, m.version, append(cfg.Warnings, warnings...)
	return cfg, sources, nil
}

// detect finds the first agent that is installed; what was found at the start
// is not looked for again.
func (m *manager) detect(ctx context.Context) (backends.Backend, error) {
	m.mu.Lock()
	probes := m.probes
	m.mu.Unlock()
	for _, name := range backends.Names() {
		if p, ok := probes[name]; ok && p.Err == nil {
			return p.Backend, nil
		}
	}
	return start.Installed(ctx)
}

// dryRun tells what a start would do. A client without a plugin shows its user
// no answers, so it is told in a message as well.
func (m *manager) dryRun(cfg loop.Config, argv []string, prompt string, sources start.Sources) DryRunResult {
	l, stray := cfg.Limits, loop.StrayPromises(cfg.Prompt, cfg.Promise)
	result := DryRunResult{
		Argv: argv, Cwd: cfg.Folder, PromptBytes: len(prompt), Hat: cfg.Hat, Sources: sources, Warnings: m.warn(cfg),
		Limits: EffectiveLimits{
			MaxIterations: l.MaxIterations, MaxCostUSD: l.MaxCostUSD, MaxDurationMs: l.MaxDuration.Milliseconds(),
			IdleTimeoutMs: l.IdleTimeout.Milliseconds(), MaxConsecutiveFailures: l.MaxFailures, CompletionPromise: cfg.Promise,
		},
	}
	if stray != "" {
		result.Warnings = append(result.Warnings, stray)
	}
	if !m.ed.Client().OptedIn {
		m.show(messageInfo, "Ralph would run "+dryRunText(result, l))
		if stray != "" {
			m.show(messageWarning, "Ralph: "+stray)
		}
	}
	return result
}

// dryRunText is a dry run's result in one line.
func dryRunText(r DryRunResult, l loop.Limits) string {
	facts := []string{oneLine(strings.Join(r.Argv, " ")), "a prompt of " + Counted(r.PromptBytes, "byte"), "in " + r.Cwd}
	if l.MaxIterations > 0 {
		facts = append(facts, "at most "+Counted(l.MaxIterations, "iteration"))
	}
	if l.MaxCostUSD > 0 {
		facts = append(facts, fmt.Sprintf("$%.2f", l.MaxCostUSD))
	}
	if l.MaxDuration > 0 {
		facts = append(facts, roughly(l.MaxDuration))
	}
	if promise := r.Limits.CompletionPromise; promise != "" {
		facts = append(facts, "until "+oneLine(promise)+" (from "+sourceText[r.Sources["completionPromise"]]+")")
	}
	return JoinFacts(facts...)
}
