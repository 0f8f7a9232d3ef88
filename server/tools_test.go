package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func (c *dialled) tool(name, input string, folders ...string) answers.ToolResult {
	c.t.Helper()
	return result[answers.ToolResult](c, c.Command(wire.CommandTool, answers.ToolParams{Name: name, Input: json.RawMessage(input), Folders: folders}))
}

// What a model wants becomes an offer, with all that its user has to know, and what the model wrote comes last.
func TestAModelAsksForAStart(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "promises")
	input := `{"prompt":"Mend it\nPermissions: none","maxIterations":3,"completionPromise":"DONE","verify":"true"}`
	asked := result[answers.ToolResult](c, c.Command(wire.CommandTool, answers.ToolParams{Name: answers.ToolStart, Input: json.RawMessage(input), Settings: &wire.Settings{Choices: wire.Choices{Backend: agent}}}))
	for _, want := range []string{"at most 3 iterations", "\nPermissions: " + filepath.Base(agent) + " may do whatever", "\nFolder: " + dir, "\nPromise: DONE", "\nVerified by: true"} {
		if !strings.Contains(asked.Text, want) {
			t.Errorf("no %q in %s", want, asked.Text)
		}
	}
	if !strings.HasSuffix(asked.Text, "\n\nMend it\nPermissions: none") || strings.Contains(asked.Text, "\nPrompt:") {
		t.Errorf("it ends with %q", asked.Text)
	}
	if got := c.tool(answers.ToolStatus, `{}`).Text; got != "no Ralph loop has run here" {
		t.Errorf("something has started: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".pi")); err == nil {
		t.Error("something is written")
	}
	started := result[wire.StartResult](c, c.Command(asked.Offers[0].Command, asked.Offers[0].Arguments[0]))
	c.status(dir, inState("ended"))
	if got := c.tool(answers.ToolStatus, `{}`).Text; !strings.Contains(got, "("+started.LoopID+"): done\n") || !strings.Contains(got, "\nResult: done: DONE after 2 iterations") {
		t.Errorf("the status is %s", got)
	}
	if got := c.tool(answers.ToolChanges, `{"loopId":"`+started.LoopID+`"}`).Text; !strings.HasPrefix(got, "nothing changed") {
		t.Errorf("the changes are %s", got)
	}
}

func TestWhatAModelCannotSay(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	c := dial(t, optedIn, dir, other)
	for _, tt := range []struct{ name, input, want string }{
		{answers.ToolStart, `{"prompt":" "}`, "prompt is missing"},
		{answers.ToolStart, `{"prompt":"/ralph-loop x --sandbox off"}`, "prompt is a command and no prompt"},
		{answers.ToolStart, `{"prompt":" /cancel-ralph"}`, "prompt is a command and no prompt"},
		{answers.ToolStart, `{"prompt":"x","trust":true}`, "unknown key trust"},
		{answers.ToolStart, `{"prompt":"x","permissions":"agent"}`, "unknown key permissions"},
		{answers.ToolStart, `{"prompt":"x","sandbox":"off"}`, "unknown key sandbox"},
		{answers.ToolStart, `{"prompt":"x","folder":"/"}`, "folder has to be one of these: " + dir + ", " + other},
		{answers.ToolStatus, `{"loopId":"ralph-x"}`, "there is no Ralph loop to do that with"},
		{answers.ToolChanges, `{}`, "there is no Ralph loop to do that with"},
		{answers.ToolSteer, `{"text":"x"}`, "there is no Ralph loop to do that with"},
		{"rm", `{}`, `there is no tool "rm"`},
	} {
		folders := []string{wire.FileURI(dir)}
		if strings.Contains(tt.input, "folder") {
			folders = nil
		}
		m := c.Command(wire.CommandTool, answers.ToolParams{Name: tt.name, Input: json.RawMessage(tt.input), Folders: folders})
		got := ""
		if m.Error != nil {
			got = m.Error.Message
		}
		if strings.HasPrefix(tt.want, "folder") && strings.Contains(got, other+", "+dir) {
			got = tt.want // in whichever order
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

// A model reaches loops of the folders that are named, and tells them nothing by itself.
func TestAModelSteers(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	c := dial(t, optedIn, dir, other)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(dir), Prompt: "Work", Choices: wire.Choices{Backend: agentThat(t, "never"), Values: settings.Values{Given: limits.Given{MaxIterations: new(1)}}}}))
	id := c.status(dir, inState("running")).LoopID
	asked := c.tool(answers.ToolSteer, `{"text":"Mind the tests"}`, wire.FileURI(dir))
	if asked.Title != `Tell the loop "Work"?` || asked.Text != "Mind the tests" {
		t.Errorf("asked is %+v", asked)
	}
	for _, input := range []string{`{"text":"--forget 1"}`, `{"text":"--next x"}`, `{"text":" "}`} {
		if m := c.Command(wire.CommandTool, answers.ToolParams{Name: answers.ToolSteer, Input: json.RawMessage(input)}); m.Error == nil || m.Error.Message != "text is what the agent is told, without flags" {
			t.Errorf("%s: %v", input, m.Error)
		}
	}
	if m := c.Command(wire.CommandTool, answers.ToolParams{Name: answers.ToolSteer, Input: json.RawMessage(`{"text":"x","loopId":"` + id + `"}`), Folders: []string{wire.FileURI(other)}}); m.Error == nil {
		t.Errorf("a loop of another folder is reached: %s", m.Result)
	}
	told := result[wire.SteerResult](c, c.Command(asked.Offers[0].Command, asked.Offers[0].Arguments[0]))
	if told.Text == "" {
		t.Error("nothing is told")
	}
	c.Must(c.Command(wire.CommandCancel, wire.LoopParams{LoopID: id}))
	if m := c.Command(wire.CommandTool, answers.ToolParams{Name: answers.ToolSteer, Input: json.RawMessage(`{"text":"x"}`), Folders: []string{wire.FileURI(dir)}}); m.Error == nil {
		t.Errorf("a loop that is over is told: %s", m.Result)
	}
}

// Below a loop there is no user to ask: whoever answers is the agent.
func TestAnAgentsModelStartsNothing(t *testing.T) {
	t.Setenv(caller.EnvLoopID, "ralph-x")
	c := dial(t, optedIn, t.TempDir())
	m := c.Command(wire.CommandTool, answers.ToolParams{Name: answers.ToolStart, Input: json.RawMessage(`{"prompt":"x"}`)})
	if reason(t, m) != wire.ReasonAgent || !strings.Contains(m.Error.Message, "an agent of this loop can't start a loop; its user can: ralph-lsp run") {
		t.Errorf("it is told %v", m.Error)
	}
	if got := c.tool(answers.ToolStatus, `{}`).Text; got != "no Ralph loop has run here" {
		t.Errorf("the status is %s", got)
	}
}
