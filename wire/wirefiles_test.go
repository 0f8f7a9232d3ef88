package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

var update = flag.Bool("update", false, "write the files of testdata/wire")

// examples are every message of ours once, by the name of its file in
// testdata/wire. The tests of the editors' plugins read the same files.
func examples() map[string]any {
	tokens := stream.Tokens{Input: 1, Output: 14, CacheRead: 8932, CacheWrite: 70}
	text := func(s string) wire.TextContent { return wire.TextContent{"text", s} }
	loops := []wire.LoopStatus{exampleLoop(tokens)}
	status := wire.NewStatus(loops)
	status.Seq = 42
	status.Loops[0].Talks = []wire.Talk{{wire.Command{"Steer", wire.CommandSteer, []any{wire.SteerParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i", Folder: "file:///w/app"}}}}, "text", "Tell the agent something: it reads it at its next step"}}
	all := map[string]any{
		"status":      status,
		"states":      wire.StatusResult{Loops: wire.StatesToShow()},
		"endings":     exampleEndings(),
		"words":       exampleWords(),
		"updates":     wire.UpdateParams{LoopID: "ralph-ca7igygdcr4i", Iteration: 3, After: "eyJsb2ciOiIxdjJ4IiwiYXQiOjkwMH0", Cursor: "eyJsb2ciOiIxdjJ4IiwiYXQiOjkwMCwiaGFkIjp7InQiOjV9fQ", Updates: []json.RawMessage{lsptest.JSON(wire.Chunk{wire.KindMessageChunk, "m7", "", text("Hello")})}},
		"set-updates": wire.SetUpdatesParams{Level: wire.LevelTools},

		"diagnostics": wire.DiagnosticsParams{Folder: "file:///w/app", Paths: []string{"src/a.go"}},
		"result-diagnostics": wire.DiagnosticsResult{Settled: true, Seen: []string{"file:///w/app/src/a.go"},
			Diagnostics: []wire.Diagnostic{{"file:///w/app/src/a.go", wire.Range{wire.Point{2, 4}, wire.Point{2, 5}}, 1, json.RawMessage(`"UndeclaredName"`), "compiler", "undefined: x"}}},

		"command-start": wire.StartParams{Folder: "file:///w/app", Prompt: "Build X", Choices: wire.Choices{Backend: "pi", Hat: "builder", Args: []string{"--thinking", "high"},
			Values: settings.Values{Given: limits.Given{MaxIterations: new(20), MaxCostUSD: new(5.0), MaxDuration: new(limits.Duration(3600000 * time.Millisecond)), Promise: new("DONE")},
				Live: "on", Permissions: "ask", AskTimeout: new(limits.Duration(10 * time.Minute)), Sandbox: "workspace", Instruct: new(false)}}},
		"command-cancel":  wire.CancelParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, When: "afterIteration"},
		"command-resume":  wire.ResumeParams{LoopParams: wire.LoopParams{Folder: "file:///w/app"}, Values: settings.Values{Given: limits.Given{MaxIterations: new(100)}, Sandbox: "off"}, Say: "Mind the tests"},
		"command-update":  wire.ChangeParams{Given: limits.Given{MaxCostUSD: new(7.5)}, Text: "--max-iterations +10", Prompt: new("Build Y")},
		"command-steer":   wire.SteerParams{Text: "Leave the parser alone", Next: true, Once: true},
		"command-read":    wire.ReadParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, After: "eyJsb2ciOiIxdjJ4In0", Before: "eyJsb2ciOiIxdjJ5In0", Limit: 500},
		"command-outline": wire.OutlineParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}},
		"command-output":  wire.OutputParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, Iteration: 3, ToolCallID: "t1", Show: true},
		"command-history": answers.HistoryParams{Folder: "file:///w/app", Limit: 20},
		"command-prompts": answers.PromptsParams{Folder: "file:///w/app", Limit: 20},
		"command-changes": wire.ChangesParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, From: 2, To: new(3), Paths: []string{"src"}, After: "src/a.go", Show: true, Places: true},
		"command-file":    answers.FileParams{LoopParams: wire.LoopParams{Folder: "file:///w/app"}, Iteration: new(2), Path: "src/a.go"},
		"command-undo":    answers.UndoParams{LoopParams: wire.LoopParams{Folder: "file:///w/app"}, Iteration: 3, Paths: []string{"src/a.go"}, DryRun: true},
		"command-keep":    answers.KeepParams{LoopParams: wire.LoopParams{Folder: "file:///w/app"}, Iteration: new(3), Paths: []string{"src/a.go"}, Kept: new(false)},
		"command-sandbox": wire.SandboxParams{Mode: "workspace"},
		"result-sandbox":  answers.SandboxResultOf("workspace", "/h/.config/ralph-lsp/config.toml"),
		"command-tool":    answers.ToolParams{Name: answers.ToolStart, Input: json.RawMessage(`{"prompt":"Build X"}`), Folders: []string{"file:///w/app"}},
		"command-plan":    answers.PlanParams{Prompt: "What next?", Backend: "pi"},

		"result-start": wire.StartResult{LoopID: "ralph-ca7igygdcr4i", State: "starting", StateFileURI: "file:///w/app/.pi/ralph-loop.local.md",
			Warnings: []string{"the folder's ralph.toml isn't trusted: limits.max_iterations = 0 is not taken (50 counts); to accept it, run ralph-lsp trust"}},
		"result-dry-run": exampleDryRun(),
		"result-slash":   wire.SlashResult{Command: "/cancel-ralph", LoopResult: &wire.LoopResult{LoopID: "ralph-ca7igygdcr4i", State: "ended", Iteration: 7}},
		"result-loop":    wire.LoopResult{LoopID: "ralph-ca7igygdcr4i", State: "ended", Iteration: 7, Text: loop.Limits{MaxIterations: 100, MaxCostUSD: 10}.Line("DONE")},
		"result-steer":   wire.SteerResult{GuidanceID: "g1", Text: "the next run is told"},
		"result-status":  wire.StatusResult{Loops: loops[1:], Elsewhere: loops[:1]},
		"result-outline": wire.Outline{Parts: []wire.LogPart{{Cursor: "eyJsb2ciOiIxdjJ4In0", Iteration: 3, Bytes: 52000}}, Iterations: []json.RawMessage{lsptest.JSON(wire.Iteration{SessionUpdate: wire.KindIteration, Phase: wire.PhaseBegin, IterationStart: loop.IterationStart{Iteration: 3}, Notice: wire.Info("iteration 3")})}, Cursor: "eyJsb2ciOiIxdjJ5In0"},
		"result-read":    answers.ReadResult{LoopID: "ralph-ca7igygdcr4i", Updates: []json.RawMessage{lsptest.JSON(wire.Chunk{wire.KindMessageChunk, "m7", "", text("Hello")})}, Cursor: "eyJsb2ciOiIxdjJ4In0", Complete: true, SkippedLines: 1},
		"result-output":  answers.OutputOf("/h/.local/state/ralph-lsp/outputs/output-5f1c0b8e.txt", "1\n2\n"),
		"result-history": answers.HistoryResult{Loops: []answers.PastLoop{examplePast(loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(3.1),
			Tokens: tokens, Duration: stream.Duration(12 * time.Minute)}), exampleLandedPast()}},
		"result-prompts":    answers.PromptsResult{Prompts: []answers.PastPrompt{{Text: "Build X\nand test it", Title: "Build X and test it", At: wire.Noon, Folder: "file:///w/app", Uses: 3}}},
		"result-changes":    exampleChanges(),
		"result-file":       answers.FileOf(changes.Content{Data: []byte("package main\n")}),
		"result-undo":       exampleUndo(),
		"result-land":       exampleLand(),
		"result-fetch":      answers.Fetched("ralph/build-x"),
		"result-keep":       answers.KeptOf([]string{"src/a.go"}, true),
		"permission":        wire.QuestionOf(wire.QuestionToShow, "ralph-ca7igygdcr4i", "/w/app"),
		"questions":         wire.QuestionsToShow(),
		"result-permission": wire.PermissionResult{ask.Deny, "not that folder"},
		"command-answer":    wire.AnswerParams{wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, "q1", ask.Deny, "not that folder"},
		"result-answer":     wire.AnswerResult{wire.AnsweredText(wire.QuestionToShow, ask.Answer{Kind: ask.Once}), wire.ClassInfo},

		"result-tool": answers.ToolResult{Title: "Start a Ralph loop?", Text: "pi 0.87.1 · at most 50 iterations\nFolder: /w/app\n\nBuild X", Done: "The loop has started. ralph_status tells how it does.",
			Offers: []wire.Command{{"Start", wire.CommandStart, []any{wire.StartParams{Folder: "file:///w/app", Prompt: "Build X"}}}}},
		"tools": answers.Tools(),

		"result-doctor": answers.DoctorResultOf([]answers.Check{
			{ID: "backend.pi", Message: "pi is not installed", Fix: "npm install ...", Optional: true, Minor: true},
			{ID: "backend", OK: true, Message: "without a choice of yours, claude is used"},
		}),
		"result-agents": exampleAgents(),
		"result-hats":   exampleKnownHats(),
		"result-help":   wire.HelpResult{"# Ralph loops"},
		"result-plan":   answers.PlanResult{Argv: []string{"/bin/pi", "--no-session", "What next?"}, Env: map[string]string{}, Cwd: "/w/app"},
	}
	waits := make([]wire.RetryStatus, 0, len(loop.WaitReasons()))
	for i, reason := range loop.WaitReasons() {
		waits = append(waits, wire.RetryStatus{loop.RetryStatus{Attempt: i + 1, ResumeAt: wire.Noon, Reason: reason}, loop.WaitText(reason)})
	}
	all["rare"] = rareExamples(text)
	all["waits"] = waits // all that a loop waits for; what shows one has to show its text
	for kind, u := range exampleUpdates(tokens, text) {
		all["update-"+strings.TrimPrefix(strings.ReplaceAll(kind, "_ralph/", "ralph-"), "_")] = u
	}
	return all
}

// exampleLoop is a loop at work, as it stands in a status.
func exampleLoop(tokens stream.Tokens) wire.LoopStatus {
	return wire.StatusOf(loop.Status{
		LoopID: "ralph-ca7igygdcr4i", Folder: "/w/app", State: loop.StateRunning, Iteration: 3,
		Limits:     loop.Limits{MaxIterations: 50, MaxCostUSD: 10, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute, MaxFailures: 5, MaxUnchanged: 5},
		NoProgress: 3, Sandbox: "bubblewrap",
		Times: loop.Times{StartedAt: wire.Noon, IterationStartedAt: wire.Noon.Add(time.Minute)}, Usage: loop.Usage{Spent: 12 * time.Minute, Cost: stream.USD(1.42), IterationCost: stream.USD(0.31), Tokens: tokens, Context: 60000, ContextSize: 200000, Quota: []stream.Quota{{Window: "five_hour", Utilization: 0.49, ResetsAt: wire.Noon.Add(time.Hour)}}},
		Session: stream.SessionStart{Backend: "pi", Version: "0.87.1", Provider: "anthropic", Model: "claude-sonnet-4"},
		Work: loop.Work{Tool: &loop.ToolStatus{StartedAt: wire.Noon.Add(time.Minute),
			Call: stream.ToolCall{ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)}}},
		StateFile: "/w/app/.pi/ralph-loop.local.md",
	}, true)
}

// exampleHats are hats with what they have cost.
func exampleHats() []loop.HatCost {
	return []loop.HatCost{{Hat: "planner", Runs: 1, Cost: stream.USD(0.3).Plus(stream.USD(-0.1))}, {Hat: "builder", Runs: 4, Cost: stream.USD(1.1), Incomplete: true}, {Hat: "reviewer", Incomplete: true}}
}

// exampleAgents are an agent that is installed and one that isn't.
func exampleAgents() answers.AgentsResult {
	pi, _ := backends.Lookup("pi")
	claude, _ := backends.Lookup("claude")
	r := answers.AgentsResult{Agents: []answers.AgentInfo{answers.AgentOf(backends.Probe{Backend: pi, Path: "/bin/pi", Version: "0.87.1"}), answers.AgentOf(backends.Probe{Backend: claude, Err: &backends.NotFoundError{Looked: []backends.Backend{claude}}})}}
	r.Agents[0].Default = true
	return r
}

func exampleKnownHats() answers.HatsResult {
	var planner, builder config.Hat
	planner.Name, planner.Description, builder.Name = "planner", "decides what is to be done next", "builder"
	return answers.HatsOf(config.Settings{Hats: map[string]config.Hat{"planner": planner, "builder": builder}})
}

// exampleDryRun is a start that meets another loop.
func exampleDryRun() answers.DryRunResult {
	pi, _ := backends.Lookup("pi")
	r := answers.PreviewOf(setup.Config{
		Folder: "/w/app", Prompt: "Build X", Backend: pi, Model: "claude-sonnet", Args: []string{"--thinking", "high"}, Hat: "builder", Promise: "DONE",
		Limits: loop.Limits{MaxIterations: 50, MaxCostUSD: 10,
			MaxDuration: 4 * time.Hour}, Verification: setup.Verification{Check: verify.Check{Shell: "go test ./...",
			When: verify.OnPromise}},
	}, start.Sources{"maxIterations": config.FromDefault, "maxCostUsd": config.FromFolder, "model": config.FromEditor, "completionPromise": config.FromPrompt, "verify": config.FromStart},
		[]string{"/bin/pi", "-p"}, "Build X", "0.87.1")
	r.Warnings = []string{"the folder's ralph.toml isn't trusted: limits.max_iterations = 0 is not taken (50 counts); to accept it, run ralph-lsp trust"}
	met := &loop.AlreadyRunningError{Folder: "/w/app"}
	r.Problems = []answers.StartProblem{answers.ProblemOf(met, wire.ReasonAlreadyRunning, wire.OffersInstead(wire.ReasonAlreadyRunning, wire.CommandStart, []byte(`{"prompt":"Build X"}`)))}
	r.Offers = answers.OffersAtStart(verify.Suggestion{Command: "go test ./...", File: "go.mod"}, nil, []byte(`{"prompt":"Build X"}`))
	return r
}

// exampleChanges is what iteration 3 changed.
func exampleChanges() answers.ChangesResult {
	files := []changes.File{
		{Path: "caf\xe9.txt", Status: changes.Deleted, Removed: 3},
		{Path: "logo.png", Status: changes.Added, Binary: true, Last: true},
		{Path: "src/a.go", Status: changes.Modified, Added: 3, Removed: 1, Kept: true},
		{Path: "src/c.go", Status: changes.Renamed, From: "src/b.go", Added: 1},
		{Path: "test.sh", Status: changes.Mode},
	}
	r := answers.ChangesOf(wire.ChangesParams{From: 2, To: new(3)}, "/w/app", files, []changes.Iteration{{Number: 3, Summary: changes.Sum(files)}})
	r.LoopID = "ralph-ca7igygdcr4i"
	r.AddPlaces(map[string][]changes.Place{
		"src/a.go": {{Line: 3, Added: 2, Removed: 1, Text: "func main() {"}, {Line: 9, Added: 1, Text: "\t// TODO"}},
		"src/c.go": {{Line: 1, Added: 1, Text: "package c"}},
	})
	return r
}

// exampleUndo is an undo of iteration 3 that left a file as it is.
func exampleUndo() answers.UndoResult {
	p := answers.UndoParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i", Folder: "file:///w/app"}, Iteration: 3}
	return answers.UndoneBy(p, changes.Undone{Paths: []string{"src/a.go"}, Refused: []changes.Refusal{{Path: "src/b.go", Reason: "it was changed since in the same place", CanMerge: true}}})
}

// exampleLand is a landing that was refused for what the user hasn't committed.
func exampleLand() answers.LandResult {
	p := wire.LandParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i", Folder: "file:///w/app.worktrees/fix-it"}}
	return answers.LandRefused(p, &worktree.Refused{Reason: worktree.ReasonUncommitted, Text: "landing would touch what isn't committed in /w/app",
		Paths: []worktree.InTheWay{{Path: "src/a.go", Why: "has changes that aren't committed"}}, Fix: []string{"commit or move it (git -C /w/app stash -u), then land again"}})
}

// exampleLandedPast is one whose worktree has landed.
func exampleLandedPast() answers.PastLoop {
	past := keptAs("ralph-da7igygdcr4i", "Fix it", "--w-app.worktrees-fix-it--/2026-11-20T12-00-00-000Z_01a1f8b5.jsonl", loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7})
	past.Tree = &worktree.Past{Fate: worktree.FateLanded, Branch: "ralph/fix-it", Into: "main", Commit: "1b9d2c4e5f60718293a4b5c6d7e8f90112233445"}
	return answers.PastIn(past)
}

// examplePast is a loop that ended.
func examplePast(end loop.End) answers.PastLoop {
	return answers.PastOf(keptAs("ralph-ca7igygdcr4i", "Build X", "--w-app--/2026-11-20T12-00-00-000Z_01a1f8b4.jsonl", end))
}

func keptAs(id, title, session string, end loop.End) (p loop.Past) {
	p.LoopID, p.Title, p.Backend, p.StartedAt, p.End = id, title, "pi", wire.Noon, lsptest.JSON(end)
	p.SessionFile = "/h/.pi/agent/sessions/" + session
	return p
}

// rareExamples have the keys that the other examples lack.
func rareExamples(text func(string) wire.TextContent) []any {
	return []any{
		new(wire.Projector).Loop(loop.IterationStart{Iteration: 3, MaxIterations: 50, Hat: "builder", Topic: "plan.ready from planner"}),
		new(wire.Projector).Loop(loop.IterationEnd{Iteration: 3, Hat: "builder", Outcome: loop.OutcomeOK, Cost: stream.USD(0.31), Duration: stream.Duration(time.Minute)}),
		wire.StartParams{PromptURI: "file:///w/app/PROMPT.md", Selection: "func main() {}", LimitsText: "80, $5, 2h", Replace: true, Trust: true, DryRun: true,
			Settings: &wire.Settings{Choices: wire.Choices{Backend: "auto"}, Host: &wire.Host{Backend: "pi", Model: "anthropic/claude-sonnet"}}},
		wire.StatusesOf([]wire.LoopStatus{}),
		wire.LandParams{LoopParams: wire.LoopParams{Folder: "file:///w/app"}, Text: "fix-it --squash"}, wire.LandParams{How: "squash", Message: "Fix it", Keep: true}, answers.LandedOf(wire.LandParams{}, worktree.Landed{Branch: "ralph/fix-it", Into: "main", Commit: "195bbad4d06d40e09ac9dea8f11dd9e655abe5cf", Commits: 2, Files: 3, Leftover: []string{"a"}, Gone: true}),
		answers.DiscardQuestion(wire.LandParams{Discard: true}, worktree.Discarded{Branch: "ralph/fix-it", Commits: []string{"Fix it"}, Leftover: []string{"a", "b"}, Ref: "refs/ralph/discarded/fix-it"}),
		answers.ReadResult{Updates: []json.RawMessage{}, Cursor: "eyJsb2ciOiIx", Complete: true, Reset: true},
		answers.ChangesResult{LoopID: "ralph-ca7igygdcr4i", Folder: "file:///w/app", Files: []answers.ChangedFile{}, Iterations: []answers.ChangedIteration{}, More: true},
		answers.FileParams{Before: new(3), Path: "src/a.go"},
		answers.FileOf(changes.Content{Data: []byte("caf\xe9")}),
		answers.FileOf(changes.Content{Absent: true}),
		answers.UndoParams{Since: 2, Merge: true},
		answers.UndoneOf(changes.Undone{Merged: []string{"src/b.go"}, HeadMoved: true}, "undone"),
		wire.StartParams{Prompt: "Mend it", Verify: "go test ./..."}, wire.StartParams{Prompt: "Mend it", Until: "make"}, wire.StartParams{Prompt: "Mend it", NoVerify: true}, wire.StartParams{Choices: wire.Choices{Values: settings.Values{Plan: "PLAN.md"}}},
		wire.StartParams{Prompt: "Mend it", Agent: "scout"}, wire.StartParams{Prompt: "Mend it", Chain: []string{"scout", "worker"}}, wire.StartParams{Prompt: "Mend it", Parallel: []string{"scout", "critic"}},
		wire.StartParams{Prompt: "Mend it", Worktree: wire.WorktreeParam{Wanted: true}, WithChanges: true, Commit: true}, wire.StartParams{Prompt: "Mend it", Worktree: wire.WorktreeParam{true, "feature/x"}},
		wire.StatusOf(loop.Status{Folder: "/w/app.worktrees/build-x", LoopID: "ralph-ca7igygdcr4i", State: loop.StateRunning, Iteration: 1,
			Worktree: &worktree.Tree{Path: "/w/app.worktrees/build-x", Folder: "/w/app.worktrees/build-x", Branch: "ralph/build-x", Repo: "/w/app"}}, true),
		wire.ResumeParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, Accept: true},
		wire.ChangeParams{LoopParams: wire.LoopParams{LoopID: "ralph-ca7igygdcr4i"}, Disallow: []string{"Bash(go test:*)"}},
		wire.StatusOf(loop.Status{Folder: "/w/app", LoopID: "ralph-ca7igygdcr4i", State: loop.StateRunning, Hat: "builder", Iteration: 5, Usage: loop.Usage{Hats: exampleHats()}}, true),
		new(wire.Projector).Loop(loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(1.3), Hats: exampleHats()}),
		wire.StatusOf(loop.Status{Folder: "/w/app", LoopID: "ralph-ca7igygdcr4i", State: loop.StatePaused, Iteration: 3, Condition: loop.Condition{Refuted: 2, Pause: loop.Pause{Unchecked: "ran no test", Deadline: wire.Noon.Add(time.Hour)}}}, true),
		wire.StatusOf(loop.Status{Folder: "/w/app", LoopID: "ralph-ca7igygdcr4i", State: loop.StatePaused, Iteration: 5, Usage: loop.Usage{Cost: stream.USD(0.03), UnknownCosts: 4}, Condition: loop.Condition{Pause: loop.Pause{Unpriced: 3}}, Limits: loop.Limits{MaxCostUSD: 1}}, true),
		wire.StatusOf(loop.Status{Folder: "/w/app", LoopID: "ralph-ca7igygdcr4i", State: loop.StatePaused, Iteration: 5, Usage: loop.Usage{Cost: stream.USD(5.02)}, Condition: loop.Condition{Pause: loop.Pause{OverBudget: "your budget of $5.00 a day is used ($5.02): resume after midnight, or raise budget.per_day in your config.toml"}}}, true),
		wire.MissingAgent{Checked: []string{"pi"}, Path: "/usr/bin", Install: map[string]string{"pi": "npm install ..."}},
		wire.DiagnosticsResult{Diagnostics: []wire.Diagnostic{}, Seen: []string{}, Busy: []string{"file:///w/app/src/a.go"}, Unsaved: []string{"file:///w/app/src/b.go"}},
		wire.Owner{PID: 4242, Host: "box"},
		answers.ConfigProblem{FileURI: "file:///w/app/ralph.toml", Line: 3, Column: 1, Message: "unknown key max_iteration"},
		wire.LoopStatus{Folder: "file:///w/app", State: "running", Condition: loop.Condition{Pausing: true}, SilentSince: wire.Noon},
		wire.StatusOf(loop.Status{Folder: "/w/app", State: loop.StateRunning, Iteration: 3, Condition: loop.Condition{Driven: loop.Driven{Detached: true}}}, false),
		wire.StatusOf(examplePlanned(), false),
		wire.StatusParams{Text: "the bus is away", Loops: []wire.LoopStatus{{LoopID: "f4k2", Folder: "file:///h/.local/state/ralph-fleet/seen/f4k2", State: "running", Host: "box-1", Origin: "file:///w/app"}}},
		wire.Chunk{SessionUpdate: wire.KindMessageChunk, MessageID: "m7", ParentToolCallID: "t1", Content: text("Hello")},
		wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: "t1", Status: wire.StatusCompleted, Content: []wire.ToolContent{{"content", text("1\n2\n" + format.LeftOut(49_871, 288_894) + "\n49999\n50000")}}, Omitted: &wire.Omitted{49_871, 288_894}},
		new(wire.Projector).Event(exampleStep), new(wire.Projector).Event(stream.ToolResult{ID: exampleStep.ID, Output: "In parse.go.", Spent: stream.Spent{Cost: stream.USD(0.0042), Tokens: 8100, Duration: stream.Duration(12 * time.Second)}}),
		wire.StatusOf(loop.Status{Folder: "/w/app", State: loop.StateRunning, Iteration: 3, Work: loop.Work{Agents: loop.AtWork{{Call: exampleStep, StartedAt: wire.Noon}}}}, true),
		wire.Promise{SessionUpdate: wire.KindPromise, NearMiss: loop.NearMiss{Found: "DOEN", Expected: "DONE"}},
		wire.Raw(`{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":1,"outcome":"ok","lastMessage":"All done."}`), // no more than has to be there
		wire.StatusOf(loop.Status{Folder: "/w/app", State: wire.StateIdle, Ended: loop.Ended{Last: &loop.End{
			Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(1.3), Verified: "go test ./... passed", Changes: &changes.Summary{Files: 4, Added: 12, Removed: 3},
			Prompt: exampleEnd.Prompt, Account: exampleEnd.Account,
			Status: loop.Status{Folder: "/w/app", LoopID: "ralph-ca7igygdcr4i", State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopPromise, EndedAt: wire.Noon}}}}}, false),
		wire.End{SessionUpdate: wire.KindEnd, End: loop.End{Reason: loop.StopPromise, Guards: "check.sh, a_test.go (added)"}},
		wire.End{SessionUpdate: wire.KindEnd, End: loop.End{Reason: loop.StopPermissionDenied, Unknown: 1, Denials: []stream.Denial{{Tool: "Bash", Detail: "rm -r build"}}}},
	}
}

// exampleEnd has what a loop has met.
var exampleEnd = loop.End{Prompt: "Mend the parser.\n\nOutput <promise>DONE</promise> when the tests pass.\n", Account: account.Account{
	Failures:   account.List{Items: []account.Item{{Text: "the agent exited with code 3", Count: 2}}},
	Refused:    account.List{Items: []account.Item{{Text: "Bash rm -r build", Count: 1}}},
	Warnings:   account.List{Items: []account.Item{{Text: "$8.00 of $10.00 are spent", Count: 1}}, More: 3},
	Unanswered: account.List{Items: []account.Item{{Text: "Bash git push", Count: 1}}},
	Commits:    account.List{Items: []account.Item{{Text: "1a2b3c4d5 Mend the parser", Count: 1}}},
	Limits:     account.List{Items: []account.Item{{Text: "100 iterations instead of 50, by process 4711 (ralph-lsp update) in pts/3, below tmux: server", Count: 1}}},
}}

// exampleStep is the begin of an iteration's first step.
var exampleStep = stream.ToolCall{ID: "step-3-1-1", Name: "step", Input: json.RawMessage(`{"agent":"scout","task":"Find the parser","step":1,"of":3}`)}

// exampleUpdates has one update of each kind.
func exampleUpdates(tokens stream.Tokens, text func(string) wire.TextContent) map[string]wire.Update {
	var p wire.Projector
	return map[string]wire.Update{
		wire.KindMessageChunk: wire.Chunk{wire.KindMessageChunk, "m7", "", text("Hello")},
		wire.KindThoughtChunk: wire.Chunk{wire.KindThoughtChunk, "m7", "", text("Hm")},
		wire.KindUserChunk:    wire.UserChunk{wire.KindUserChunk, "5c9906ee", text("Leave the parser alone")},
		wire.KindNote:         wire.Note{wire.KindNote, "my-extension", "its text"},
		wire.KindToolCall: wire.ToolCall{wire.KindToolCall, "t1", "", "bash", "go test ./...", wire.ToolExecute, wire.StatusInProgress,
			[]wire.Location{{"main.go", 3}}, json.RawMessage(`{"command":"go test ./..."}`), nil, nil},
		wire.KindToolCallUpdate: wire.ToolCallUpdate{wire.KindToolCallUpdate, "t1", "", wire.StatusFailed, []wire.ToolContent{{"content", text("FAIL")}}, nil, stream.Spent{}, ""},
		wire.KindUsage:          wire.UsageUpdate{wire.KindUsage, 60000, 200000, &wire.Money{1.42, "USD"}},
		wire.KindSession:        p.Event(stream.SessionStart{Backend: "pi", Version: "0.87.1", Provider: "anthropic", Model: "claude-sonnet-4", SessionID: "01a1f8b0"}),
		wire.KindDiscard:        p.Event(stream.MessageEnd{MessageID: "m7", Discarded: true}),
		wire.KindIteration: p.Loop(loop.IterationEnd{Iteration: 3, Outcome: loop.OutcomeOK, Cost: stream.USD(0.31), Turns: 4, ToolCalls: 6,
			Duration: stream.Duration(61 * time.Second), Tokens: tokens, Changes: &changes.Summary{Files: 3, Added: 12, Removed: 4}}),
		wire.KindQuestion:   p.Loop(loop.Asked{Question: wire.QuestionToShow}),
		wire.KindAnswer:     p.Loop(loop.AnswerTo(wire.QuestionToShow, ask.Answer{Kind: ask.Deny, Text: "not that folder", By: "Neovim"})),
		wire.KindState:      p.Loop(loop.StateChanged{State: loop.StatePaused, Reason: "user"}),
		wire.KindRetry:      p.Event(stream.Retry{Attempt: 1, MaxAttempts: 3, Delay: stream.Duration(2 * time.Second), Kind: stream.KindOverloaded, Message: "529"}),
		wire.KindCompaction: p.Event(stream.Compaction{Done: true, Reason: "threshold"}),
		wire.KindTopic:      p.Loop(loop.Published{Topic: "build.done", Target: "reviewer", Payload: "tests: pass"}),
		wire.KindGoal:       p.Loop(loop.Goal{Promise: "DONE", From: "prompt", Verify: "go test ./...", Besides: "the reviewer critic approves"}),
		wire.KindPromise: p.Loop(loop.NearMiss{Found: "DONE", Why: "The agent wrote <promise>DONE</promise>, but this loop has no promise, so that doesn't end it.",
			Offer: loop.Offer{LoopID: "ralph-ca7igygdcr4i", Promises: []string{"DONE"}}}),
		wire.KindVerify: p.Loop(loop.Verify{Gate: verify.CommandGate, State: verify.Refuted, Command: "go test ./...", Promised: true, Why: "failed (exit 1): TestParse", ExitCode: new(1), Duration: stream.Duration(3 * time.Second), Cost: stream.USD(0.12),
			Output: "--- FAIL: TestParse (0.00s)\n    parse_test.go:9: got 3\nFAIL", Problems: []verify.Problem{{Path: "parse_test.go", Line: 9, Column: 2, Message: "got 3"}}}),
		wire.KindSteering: p.Loop(loop.SteeringMessage{ID: "g1", Text: "Leave the parser alone", State: loop.SteeringDelivered}),
		wire.KindLimits: p.Loop(loop.LimitsChanged{Limits: loop.Limits{MaxIterations: 100, MaxCostUSD: 10, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute}, Promise: "DONE",
			Changes: []string{"100 iterations instead of 50"}, By: "process 4711 (ralph-lsp update) in pts/3, below tmux: server"}),
		wire.KindWarning: p.Loop(loop.Warning{Message: "$8.00 of $10.00 are spent"}),
		wire.KindError:   p.Event(stream.Error{Message: "429 rate limited", Kind: stream.KindRateLimit}),
		wire.KindEnd: p.Loop(loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(3.1), Tokens: tokens,
			Duration: stream.Duration(12 * time.Minute), Tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Prompt: exampleEnd.Prompt, Account: exampleEnd.Account}),
	}
}

// limitNames are a limit as limits.json has it.
type limitNames struct {
	Name    limits.Name `json:"name"`
	Wire    string      `json:"wire"`
	Key     string      `json:"key"`
	Flag    string      `json:"flag"`
	Unit    limits.Unit `json:"unit"`
	Zero    string      `json:"zero"`
	Default string      `json:"default,omitempty"`
	Words   string      `json:"words"` // of the default, or of 0
}

func exampleLimits() []limitNames {
	var all []limitNames
	for _, l := range limits.All() {
		all = append(all, limitNames{l.Name, l.Wire, l.Key, l.Flag, l.Unit, l.Zero, l.Default, l.Words(limits.Default())})
	}
	return all
}

const wireFiles = "../testdata/wire"

func TestTheWireFilesAreAsTheCodeSays(t *testing.T) {
	all := examples()
	all["names"] = wire.NamesOf(t)
	all["limits"] = exampleLimits()
	for name, v := range all {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		must.OK(t, enc.Encode(v))
		file := filepath.Join(wireFiles, name+".json")
		if *update {
			must.OK(t, os.WriteFile(file, want.Bytes(), 0o644))
		}
		got, _ := os.ReadFile(file) // one that isn't there differs
		if diff := cmp.Diff(string(got), want.String()); diff != "" {
			t.Errorf("%s isn't what the code makes (-file +code); if the code is right: go test ./wire -update\n%s", file, diff)
		}
		if strings.Contains(want.String(), "null") {
			t.Errorf("%s has a null: leave out what doesn't apply", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(wireFiles, "*.json"))
	if err != nil || len(files) != len(all) {
		t.Errorf("%d files for %d messages, %v", len(files), len(all), err)
	}
}

// It stands behind the tests that write documents with -update.
func TestTheDocumentExplainsEveryName(t *testing.T) {
	for _, problem := range wire.Unexplained(t) {
		t.Error(problem)
	}
}

// TestEveryKeyIsExplainedAndHasAnExample names the keys that the document or the
// files of examples have forgotten. It stands behind the test that writes them with -update.
func TestEveryKeyIsExplainedAndHasAnExample(t *testing.T) {
	doc := wire.Document(t)
	files, err := filepath.Glob("../testdata/wire/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var examples []byte
	for _, name := range files {
		data := must.Read(t, name)
		examples = append(examples, data...)
	}
	var code []byte // what stands in backticks: as words of a sentence, keys such as "machine" are always there
	for i, part := range bytes.Split(doc, []byte("`")) {
		if i%2 == 1 {
			code = append(append(code, part...), '\n')
		}
	}
	for _, key := range wire.Keys(t) {
		if !regexp.MustCompile(`\b` + key + `\b`).Match(code) {
			t.Errorf("docs/PROTOCOL.md and protocol.ts don't explain the key %s", key)
		}
		if !strings.Contains(string(examples), `"`+key+`":`) {
			t.Errorf("no file in testdata/wire has the key %s", key)
		}
	}
}

func TestEveryKindOfUpdateHasAnExample(t *testing.T) {
	have := exampleUpdates(stream.Tokens{}, func(s string) wire.TextContent { return wire.TextContent{"text", s} })
	for _, kind := range wire.Constants(t, ".", "Kind") {
		if have[kind] == nil {
			t.Errorf("no example of %s", kind)
		}
	}
}

// The editors' tests read waits.json.
func TestEveryReasonToWaitHasItsWords(t *testing.T) {
	for _, reason := range loop.WaitReasons() {
		if got := wire.WaitText(reason, time.Time{}, time.Time{}); !strings.Contains(got, loop.WaitText(reason)) {
			t.Errorf("the status says %q of %s", got, reason)
		}
	}
}

// examplePlanned is a loop that works through a plan.
func examplePlanned() loop.Status {
	s := loop.Status{Folder: "/w/app", State: loop.StateRunning, Iteration: 3, Plan: "PLAN.md"}
	s.Tasks.Done, s.Tasks.Total, s.Tasks.Now, s.Tasks.Next = 4, 12, "Write the parser", []string{"Describe it"}
	s.Tasks.Refused = make([]loop.RefusedTask, 2) // one of them not often enough
	s.Tasks.Refused[0].Text, s.Tasks.Refused[0].Times, s.Tasks.Refused[0].Why = "Read numbers", 3, "go test ./parser failed (exit 1)"
	return s
}
