package server

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

const promising = "Build it, then output `<promise>DONE</promise>`."

func TestThePromptsPromise(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "PROMPT.md"), promising)
	agent := agentThat(t, "promises")
	choices := map[string]any{"backend": agent, "promptUri": wire.FileURI(filepath.Join(dir, "PROMPT.md"))}
	c := dial(t, optedIn, dir)
	if got := c.dryRun(choices); *got.Limits.Promise != "DONE" || got.Sources["completionPromise"] != config.FromPrompt || len(got.Warnings) != 0 {
		t.Errorf("dry run: %+v", got)
	}
	delete(choices, "dryRun")
	c.Must(c.Command(wire.CommandStart, choices)) // as the lens says
	c.Hears(wire.MethodUpdate, `"sessionUpdate":"_ralph/goal","promise":"DONE","source":"prompt","text":"this loop is done when the agent says`)
	c.Hears(wire.MethodUpdate, `"stopReason":"promise","promise":"DONE","iterations":2`)

	plainClient := dial(t, plain, dir)
	plainClient.dryRun(choices)
	plainClient.Hears("window/showMessage", "Promise: DONE (from the prompt)")
	delete(choices, "dryRun")
	plainClient.Must(plainClient.Command(wire.CommandStart, choices))
	plainClient.Hears("window/showMessage", "Ralph: this loop is done when the agent says")
	plainClient.Hears("window/showMessage", "Ralph done: DONE after 2 iterations")
}

// Whoever has several folders is told which of them it is about.
func TestAPlainClientHearsWhichLoopItIs(t *testing.T) {
	base := t.TempDir()
	one, two := filepath.Join(base, "one", "app"), filepath.Join(base, "two", "app")
	names := map[string]string{one: "Mend the parser", two: "Write the docs"}
	for dir, name := range names {
		must.Write(t, filepath.Join(dir, "PROMPT.md"), name+"\n<promise>DONE</promise>")
	}
	c := dial(t, plain, one, two)
	for dir, name := range names {
		c.Must(c.Command(wire.CommandStart, map[string]any{"folder": wire.FileURI(dir), "backend": agentThat(t, "promises"), "promptUri": wire.FileURI(filepath.Join(dir, "PROMPT.md"))}))
		c.Hears("window/showMessage", `Ralph \"`+name+` <promise>DONE</promise>\": this loop is done when the agent says`)
		c.Hears("window/showMessage", `Ralph \"`+name+` <promise>DONE</promise>\" done: DONE after 2 iterations`)
	}
}

func TestAPromptWithSeveralPromises(t *testing.T) {
	dir := t.TempDir()
	const want = "the prompt has several promises (<promise>A</promise>, <promise>B</promise>), so none of them ends this loop"
	start := map[string]any{"backend": agentThat(t, "never"), "prompt": "Say <promise>A</promise> or <promise>B</promise>"}
	c := dial(t, optedIn, dir)
	if got := c.dryRun(start); !slices.Equal(got.Warnings, []string{want}) || got.Sources["completionPromise"] != config.FromDefault {
		t.Errorf("dry run: %+v", got)
	}
	other := dial(t, plain, t.TempDir())
	other.dryRun(start)
	other.Hears("window/showMessage", "has several promises")
	asked := make(chan session.MessageParams, 1)
	other.Answer("window/showMessageRequest", func(params json.RawMessage) any {
		var p session.MessageParams
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		asked <- p
		return nil
	})
	delete(start, "dryRun")
	other.Must(other.Command(wire.CommandStart, start))
	p := <-asked
	if actions := []session.MessageItem{{Title: session.ActionLeave}, {Title: `Make "A" the Promise`}, {Title: `Make "B" the Promise`}}; p.Message != "Ralph: "+want || p.Type != session.MessageWarning || !slices.Equal(p.Actions, actions) {
		t.Errorf("asked %+v", p)
	}
}

func TestAPlainClientIsOfferedAPromise(t *testing.T) {
	for answer, reason := range map[string]loop.StopReason{`Make "DONE" the Promise`: loop.StopPromise, session.ActionLeave: loop.StopMaxIterations} {
		t.Run(answer, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, plain, dir)
			c.Answer("window/showMessageRequest", func(params json.RawMessage) any {
				if !strings.Contains(string(params), "not done yet") {
					return nil // the limit
				}
				return session.MessageItem{Title: answer}
			})
			limit := "0"
			if reason == loop.StopMaxIterations {
				limit = "2"
			}
			c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "Build --max-iterations " + limit, Choices: wire.Choices{Backend: agentThat(t, "insists")}}))
			c.Hears("window/showMessageRequest", "Ralph: not done yet: The agent wrote")
			if reason == loop.StopPromise {
				c.Hears("window/showMessage", "Ralph done: DONE after")
				return
			}
			c.Hears("window/showMessageRequest", "stopped after 2 iterations: iteration limit reached")
			asked := 0
			for _, m := range c.Heard() {
				if m.Method == "window/showMessageRequest" && strings.Contains(string(m.Params), "not done yet") {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestAnOfferIsWithdrawnWhenThePromiseChanges(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, plain, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "Build --max-iterations 0", Choices: wire.Choices{Backend: agentThat(t, "insists")}}))
	id := c.Hears("window/showMessageRequest", "not done yet").ID
	c.Must(c.Command(wire.CommandUpdate, wire.ChangeParams{Given: limits.Given{Promise: new("DONE")}}))
	c.Hears("window/showMessage", "Ralph done: DONE after")
	withdrawn := c.Hears("$/cancelRequest", "")
	if !strings.Contains(string(withdrawn.Params), string(id)) {
		t.Errorf("withdrew %s, not %s", withdrawn.Params, id)
	}
}

func TestTheDoctorKnowsThePromptsPromise(t *testing.T) {
	find := func(dir, id string) (found []answers.Check) {
		s := &service.Service{Files: func(dir string) config.Files { return config.FilesOf(dir, nil) }}
		for _, c := range s.Doctor(t.Context(), "v", dir).Checks {
			if c.ID == id {
				found = append(found, c)
			}
		}
		return found
	}
	dir := t.TempDir()
	if got := find(dir, "setting.completion.promise"); len(got) != 0 {
		t.Errorf("without a prompt: %+v", got)
	}
	must.Write(t, filepath.Join(dir, "PROMPT.md"), promising)
	if got := find(dir, "setting.completion.promise"); len(got) != 1 || !got[0].OK || got[0].Message != `completion.promise = "DONE" (the prompt, PROMPT.md)` {
		t.Errorf("got %+v", got)
	}
	must.Write(t, filepath.Join(dir, "PROMPT.md"), promising+" Or <promise>STUCK</promise>.")
	if got := find(dir, "prompt"); len(got) != 1 || got[0].OK || !got[0].Optional || !strings.Contains(got[0].Message, "has several promises") || got[0].Fix == "" {
		t.Errorf("got %+v", got)
	}
	must.Write(t, filepath.Join(dir, config.Name), "[completion]\npromise = \"FOLDER\"\n")
	if got := find(dir, "setting.completion.promise"); len(got) != 1 || !strings.Contains(got[0].Message, "FOLDER") || len(find(dir, "prompt")) != 0 {
		t.Errorf("with a promise in the folder: %+v", got)
	}
}
