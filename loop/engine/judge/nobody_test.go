package judge

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// An agent that isn't logged in doesn't mend that by itself, so a loop ends and says it.
func TestAnAgentWithoutALoginEndsTheLoop(t *testing.T) {
	structured := func(kind stream.ErrorKind) backends.Exit {
		return backends.Exit{Code: 1, Duration: time.Second, Result: stream.Result{Lines: 3, Terminal: true, Failure: &stream.Error{Kind: kind, Message: "no"}}}
	}
	onStderr := func(lines int, text, stderr string) backends.Exit {
		return backends.Exit{Code: 1, Duration: time.Second, Stderr: stderr, Result: stream.Result{Lines: lines, Text: text}}
	}
	cutOff := onStderr(1, "", "No API key found for anthropic.")
	cutOff.Result.Failure = &stream.Error{Message: "the stream ended before the run did"}
	forbidden := structured(stream.KindAuth)
	forbidden.Result.Failure.Message = "403 no access to this model"
	worked := backends.Exit{Duration: time.Minute, Result: stream.Result{Lines: 9, Terminal: true, ToolCalls: 2}}
	for name, tt := range map[string]struct {
		runs  []backends.Exit
		never bool // failures end no loop
		want  loop.StopReason
	}{
		"claude without a login":             {runs: []backends.Exit{structured(stream.KindAuth)}, want: loop.StopUnauthorized},
		"pi without a key":                   {runs: []backends.Exit{cutOff}, want: loop.StopUnauthorized},
		"gemini without a key":               {runs: []backends.Exit{onStderr(0, "", "Please set GEMINI_API_KEY before running")}, want: loop.StopUnauthorized},
		"the user wants it tried for ever":   {runs: []backends.Exit{structured(stream.KindAuth)}, never: true},
		"a model that it may not use":        {runs: []backends.Exit{forbidden}},
		"another failure":                    {runs: []backends.Exit{structured(stream.KindServer)}},
		"an agent that printed what it does": {runs: []backends.Exit{onStderr(40, "Pushing", "fatal: Authentication failed")}},
		"a login that runs out":              {runs: []backends.Exit{worked, structured(stream.KindAuth)}},
		"and stays so":                       {runs: []backends.Exit{worked, structured(stream.KindAuth), structured(stream.KindAuth)}, want: loop.StopUnauthorized},
		"and comes back":                     {runs: []backends.Exit{worked, structured(stream.KindAuth), worked, structured(stream.KindAuth)}},
	} {
		var counts Tally
		limits := loop.Limits{MaxFailures: 5}
		if tt.never {
			limits.MaxFailures = 0
		}
		var got loop.StopReason
		for _, exit := range tt.runs {
			r := Assess(exit, "", promises.Completion{}, time.Now())
			counts.Add(r)
			got = Decide(r, "", counts, Spent{}, verify.Check{}, limits)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
