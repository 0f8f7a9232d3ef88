package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph-lsp/config"
	"ralph-lsp/internal/limits"
	"ralph-lsp/internal/lsptest"
	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
)

var update = flag.Bool("update", false, "write the files of testdata/wire")

// examples are every message of ours once, by the name of its file in
// testdata/wire. The tests of the editors' plugins read the same files.
func examples() map[string]any {
	tokens := &Tokens{Input: 1, Output: 14, CacheRead: 8932, CacheWrite: 70}
	text := func(s string) TextContent { return TextContent{"text", s} }
	loops := []LoopStatus{{
		LoopID: "ralph-ca7igygdcr4i", Folder: "file:///w/app", State: "running", Iteration: 3, MaxIterations: 50,
		StartedAt: noon, IterationStartedAt: noon.Add(time.Minute),
		Backend: &BackendInfo{"pi", "0.87.1", "anthropic", "claude-sonnet-4"},
		Cost:    &CostStatus{Amount: 1.42, Currency: "USD", Limit: 10, Iteration: new(0.31)}, Tokens: tokens, Time: TimeStatus{720000, 14400000},
		Context: &Context{60000, 200000}, Quota: []QuotaWindow{{"five_hour", 0.49, noon.Add(time.Hour)}},
		Tool:         &RunningTool{"t1", "bash", "go test ./...", ToolExecute, noon.Add(time.Minute)},
		Owned:        true,
		StateFileURI: "file:///w/app/.pi/ralph-loop.local.md",
	}}
	all := map[string]any{
		"status":      StatusParams{Seq: 42, Health: HealthOK, Busy: true, Message: "Ralph 3/50 · $1.42", Loops: loops},
		"states":      StatusResult{exampleStates()},
		"updates":     UpdateParams{LoopID: "ralph-ca7igygdcr4i", Seq: 1881, Iteration: 3, Updates: []json.RawMessage{lsptest.JSON(Chunk{KindMessageChunk, "m7", "", text("Hello")})}},
		"set-updates": SetUpdatesParams{Level: LevelTools},

		"command-start": StartParams{Folder: "file:///w/app", Prompt: "Build X", Choices: Choices{Backend: "pi", Hat: "builder", Args: []string{"--thinking", "high"},
			LimitParams: LimitParams{limits.Message{MaxIterations: new(20), MaxCostUSD: new(5.0), MaxDurationMs: new(int64(3600000))}, new("DONE")}}},
		"command-cancel":     CancelParams{LoopParams: LoopParams{LoopID: "ralph-ca7igygdcr4i"}, When: "afterIteration"},
		"command-resume":     ResumeParams{LoopParams: LoopParams{Folder: "file:///w/app"}, LimitParams: LimitParams{Message: limits.Message{MaxIterations: new(100)}}},
		"command-update":     ChangeParams{LimitParams: LimitParams{Message: limits.Message{MaxCostUSD: new(7.5)}}, Text: "--max-iterations +10", Prompt: new("Build Y")},
		"command-steer":      SteerParams{Text: "Leave the parser alone"},
		"command-output":     OutputParams{LoopID: "ralph-ca7igygdcr4i", AfterSeq: 1800, Limit: 100},
		"command-history":    HistoryParams{Folder: "file:///w/app", Limit: 20},
		"command-transcript": TranscriptParams{LoopID: "ralph-ca7igygdcr4i", Cursor: "eyJoaXN0b3J5Ijp7fX0", Limit: 500},
		"command-plan":       PlanParams{Prompt: "What next?", Backend: "pi"},

		"result-start": StartResult{LoopID: "ralph-ca7igygdcr4i", State: "starting", StateFileURI: "file:///w/app/.pi/ralph-loop.local.md",
			Warnings: []string{"the folder's ralph.toml isn't trusted: limits.max_iterations = 0 is not taken (50 counts); to take it, say ralph-lsp trust"}},
		"result-dry-run": DryRunResult{Argv: []string{"/bin/pi", "-p"}, Cwd: "/w/app", PromptBytes: 7, Limits: ParamsOf(loop.Limits{MaxIterations: 20}.All(), ""),
			Sources: start.Sources{"maxIterations": config.FromStart, "maxCostUsd": config.FromFolder}, Warnings: []string{"the folder's ralph.toml isn't trusted: limits.max_iterations = 0 is not taken (50 counts); to take it, say ralph-lsp trust"}},
		"result-slash":  SlashResult{Command: "/cancel-ralph", LoopResult: &LoopResult{LoopID: "ralph-ca7igygdcr4i", State: "ended", Iteration: 7}},
		"result-loop":   LoopResult{LoopID: "ralph-ca7igygdcr4i", State: "ended", Iteration: 7, Text: loop.Limits{MaxIterations: 100, MaxCostUSD: 10}.Line("DONE")},
		"result-steer":  SteerResult{GuidanceID: "g1"},
		"result-status": StatusResult{loops},
		"result-output": OutputResult{Updates: []json.RawMessage{lsptest.JSON(Warning{KindWarning, "$8.00 of $10.00 are spent", Said{Text: "$8.00 of $10.00 are spent", Class: ClassWarning}})}, NextSeq: 1801, Complete: true},
		"result-history": HistoryResult{[]PastLoop{{LoopID: "ralph-ca7igygdcr4i", Title: "Build X", Backend: "pi", StartedAt: noon, StopReason: "promise", Promise: "DONE",
			Iterations: 7, CostUSD: new(3.1), Tokens: tokens, DurationMs: 720000, SessionFileURI: "file:///h/.pi/agent/sessions/--w-app--/2026-11-20T12-00-00-000Z_01a1f8b4.jsonl"}}},
		"result-transcript": TranscriptResult{Updates: []json.RawMessage{lsptest.JSON(Chunk{KindMessageChunk, "m7", "", text("Hello")})}, NextCursor: "eyJoaXN0b3J5Ijp7fX0", SkippedLines: 1},
		"result-doctor":     DoctorResult{[]Check{{ID: "backend.pi", Message: "pi is not installed", Fix: "npm install ..."}}},
		"result-help":       HelpResult{"# Ralph loops"},
		"result-plan":       PlanResult{Argv: []string{"/bin/pi", "--no-session", "What next?"}, Env: map[string]string{}, Cwd: "/w/app"},
	}
	waits := make([]RetryStatus, 0, len(loop.WaitReasons()))
	for i, reason := range loop.WaitReasons() {
		waits = append(waits, RetryStatus{i + 1, noon, reason, loop.WaitText(reason)})
	}
	all["waits"] = waits // all that a loop waits for; what shows one has to show its text
	for kind, u := range exampleUpdates(tokens, text) {
		all["update-"+strings.TrimPrefix(strings.ReplaceAll(kind, "_ralph/", "ralph-"), "_")] = u
	}
	return all
}

// exampleUpdates has one update of each kind.
func exampleUpdates(tokens *Tokens, text func(string) TextContent) map[string]Update {
	return map[string]Update{
		KindMessageChunk: Chunk{KindMessageChunk, "m7", "", text("Hello")},
		KindThoughtChunk: Chunk{KindThoughtChunk, "m7", "", text("Hm")},
		KindUserChunk:    UserChunk{KindUserChunk, "5c9906ee", "lead", "01a1f8b0", text("Leave the parser alone")},
		KindNote:         Note{KindNote, "my-extension", "its text"},
		KindToolCall: ToolCall{KindToolCall, "t1", "", "bash", "go test ./...", ToolExecute, StatusInProgress,
			[]Location{{"main.go", 3}}, json.RawMessage(`{"command":"go test ./..."}`)},
		KindToolCallUpdate: ToolCallUpdate{KindToolCallUpdate, "t1", "", StatusFailed, []ToolContent{{"content", text("FAIL")}}},
		KindUsage:          UsageUpdate{KindUsage, 60000, 200000, &Money{1.42, "USD"}},
		KindSession:        SessionUpdate{KindSession, "pi", "0.87.1", "anthropic", "claude-sonnet-4", "01a1f8b0"},
		KindDiscard:        Discard{KindDiscard, "m7", ""},
		KindIteration: Iteration{SessionUpdate: KindIteration, Phase: PhaseEnd, Iteration: 3, Outcome: "ok", CostUSD: new(0.31),
			Turns: new(4), ToolCalls: new(6), DurationMs: new(int64(61000)), Tokens: tokens},
		KindState:      StateChange{KindState, "waiting", noon, "rate_limit", "rate limit"},
		KindRetry:      Retry{KindRetry, 1, 3, 2000, "overloaded", "529"},
		KindCompaction: Compaction{KindCompaction, true, "threshold", ""},
		KindTopic:      Topic{KindTopic, "build.done", "reviewer", "tests: pass"},
		KindGoal:       Goal{KindGoal, "DONE", "prompt", Said{Text: "this loop is done when the agent says <promise>DONE</promise> (from the prompt)", Class: ClassInfo}},
		KindPromise: Promise{KindPromise, false, "DONE", "", "The agent wrote <promise>DONE</promise>, but this loop has no promise, so that doesn't end it.",
			Said{"not done yet: The agent wrote <promise>DONE</promise>, but this loop has no promise, so that doesn't end it.", ClassWarning,
				[]Command{{`Make "DONE" the Promise`, CommandUpdate, []any{ChangeParams{LoopParams: LoopParams{LoopID: "ralph-ca7igygdcr4i"}, LimitParams: LimitParams{CompletionPromise: new("DONE")}}}}}}},
		KindGuidance: Guidance{KindGuidance, "g1", "delivered"},
		KindLimits:   Limits{KindLimits, ParamsOf(loop.Limits{MaxIterations: 100, MaxCostUSD: 10, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute}.Given(), "DONE")},
		KindWarning:  Warning{KindWarning, "$8.00 of $10.00 are spent", Said{Text: "$8.00 of $10.00 are spent", Class: ClassWarning}},
		KindError:    ErrorUpdate{KindError, "429 rate limited", true, "rate_limit"},
		KindEnd:      End{KindEnd, "promise", "DONE", 7, new(3.1), tokens, 720000, "", nil},
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
	all["names"] = namesOf(t)
	all["limits"] = exampleLimits()
	for name, v := range all {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(wireFiles, name+".json")
		if *update {
			if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, err, got, want.Bytes())
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

func TestEveryKindOfUpdateHasAnExample(t *testing.T) {
	have := exampleUpdates(&Tokens{}, func(s string) TextContent { return TextContent{"text", s} })
	for _, kind := range constants(t, ".", "Kind") {
		if have[kind] == nil {
			t.Errorf("no example of %s", kind)
		}
	}
}

// PROTOCOL.md names every reason to wait; the editors' tests read waits.json.
func TestEveryReasonToWaitIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range loop.WaitReasons() {
		if !bytes.Contains(page, []byte("`"+reason+"`")) {
			t.Errorf("docs/PROTOCOL.md doesn't name the reason %s", reason)
		}
		if got := waitText(reason, time.Time{}); !strings.Contains(got, loop.WaitText(reason)) {
			t.Errorf("the status says %q of %s", got, reason)
		}
	}
}
