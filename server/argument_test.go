package server

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What is wrong with an argument is said of the key as it stands in the JSON.
func TestArgumentsAreRefusedByTheirKeys(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	for name, tt := range map[string]struct{ command, argument, key, message string }{
		"wrong type":             {wire.CommandStart, `{"maxIterations":"5"}`, "maxIterations", "maxIterations is a text; write a whole number, 0 or more"},
		"a setting's type":       {wire.CommandStart, `{"live":true}`, "live", "live is true; write one of auto, on, off"},
		"a switch's type":        {wire.CommandStart, `{"instruct":"no"}`, "instruct", "instruct is a text; write true or false"},
		"a text's type":          {wire.CommandStart, `{"backend":["pi"]}`, "backend", "backend is a list; write a text"},
		"a list's type":          {wire.CommandStart, `{"args":"-v"}`, "args", "args is a text; write a list"},
		"a time's type":          {wire.CommandStart, `{"maxDurationMs":"4h"}`, "maxDurationMs", "maxDurationMs is a text; write milliseconds, as in 14400000 for 4h"},
		"an object's type":       {wire.CommandStart, `{"settings":7}`, "settings", "settings is a number; write an object"},
		"wrong type of settings": {wire.CommandStart, `{"settings":{"maxCostUsd":"5"}}`, "settings.maxCostUsd", "settings.maxCostUsd is a text; write an amount in US dollars such as 5.00"},
		"wrong type of a folder": {wire.CommandCancel, `{"folder":5}`, "folder", ""},
		"money's type":           {wire.CommandStart, `{"maxCostUsd":"five"}`, "maxCostUsd", "maxCostUsd is a text; write an amount in US dollars such as 5.00"},
		"nearly a value": {wire.CommandStart, `{"prompt":"x","sandbox":"workspce"}`, "sandbox",
			`sandbox is "workspce"; did you mean workspace? write one of off, workspace`},
		"unknown":                {wire.CommandStart, `{"promt":"x"}`, "promt", "unknown key promt: did you mean prompt?"},
		"nothing like it":        {wire.CommandStart, `{"colour":"x"}`, "colour", "unknown key colour"},
		"unknown in settings":    {wire.CommandStart, `{"settings":{"folder":"x"}}`, "settings.folder", ""},
		"other letters":          {wire.CommandStart, `{"prompt":"x","PROMPT":"y"}`, "PROMPT", ""},
		"other letters inside":   {wire.CommandStart, `{"prompt":"x","settings":{"maxiterations":1}}`, "settings.maxiterations", "did you mean maxIterations?"},
		"none takes any":         {wire.CommandHelp, `{"x":1}`, "x", ""},
		"a time that overflows":  {wire.CommandStart, `{"prompt":"x","backend":"AGENT","maxDurationMs":18446744073710}`, "maxDurationMs", "write milliseconds up to 9223372036854"},
		"the largest number":     {wire.CommandStart, `{"prompt":"x","backend":"AGENT","idleTimeoutMs":9223372036854775807}`, "idleTimeoutMs", ""},
		"of the settings":        {wire.CommandStart, `{"prompt":"x","backend":"AGENT","settings":{"maxDurationMs":9223372036855}}`, "settings.maxDurationMs", ""},
		"of a resume":            {wire.CommandResume, `{"maxDurationMs":-1}`, "maxDurationMs", ""},
		"of an update":           {wire.CommandUpdate, `{"idleTimeoutMs":9223372036855}`, "idleTimeoutMs", ""},
		"a promise with tags":    {wire.CommandStart, `{"prompt":"x","backend":"AGENT","completionPromise":"</promise>"}`, "completionPromise", "leave out"},
		"an update's promise":    {wire.CommandUpdate, `{"completionPromise":"</promise>"}`, "completionPromise", ""},
		"an update's limit":      {wire.CommandUpdate, `{"maxIterations":-1}`, "maxIterations", "maxIterations is -1; write a whole number"},
		"a text's promise":       {wire.CommandStart, `{"text":"x --completion-promise '<promise>'","backend":"AGENT"}`, "completionPromise", ""},
		"typed limits":           {wire.CommandStart, `{"prompt":"x","backend":"AGENT","limitsText":"more"}`, "limitsText", "write a whole number"},
		"a hat without hats":     {wire.CommandStart, `{"prompt":"x","hat":"planner"}`, "hat", "none is described"},
		"a model without a flag": {wire.CommandStart, `{"prompt":"x","backend":"AGENT","model":"m"}`, "model", "say it with args"},
		"a file elsewhere":       {wire.CommandStart, `{"promptUri":"file://otherhost/x.md","backend":"AGENT"}`, "promptUri", "another machine"},
	} {
		m := c.Command(tt.command, json.RawMessage(strings.ReplaceAll(tt.argument, "AGENT", agent)))
		if m.Error == nil || m.Error.Code != rpc.CodeInvalidParams {
			t.Errorf("%s: %+v %s", name, m.Error, m.Result)
			continue
		}
		var data map[string]any
		json.Unmarshal(m.Error.Data, &data)
		if key, _ := data["key"].(string); key != tt.key || !strings.Contains(m.Error.Message, tt.message) || strings.Contains(string(m.Error.Data), "null") {
			t.Errorf("%s: %s %s", name, m.Error.Message, m.Error.Data)
		}
	}
	typed := c.dryRun(map[string]any{"prompt": "x", "backend": agent, "text": "--max-iterations 9 --max-failures 2", "limitsText": "7, 0,5 --completion-promise DONE"}).Limits
	if *typed.MaxIterations != 7 || *typed.MaxCostUSD != 0.5 || *typed.MaxFailures != 2 || *typed.Promise != "DONE" {
		t.Errorf("typed: %+v", typed)
	}
	longest := math.MaxInt64 / int64(1e6)
	got := c.dryRun(map[string]any{"prompt": "x", "backend": agent, "maxDurationMs": longest, "settings": map[string]any{"model": "m"}})
	if time.Duration(*got.Limits.MaxDuration).Milliseconds() != longest || got.Sources["model"] != config.FromDefault {
		t.Errorf("got %+v", got)
	}
}
