package answers

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Tool is what a client offers to models, in the shape of the Model Context Protocol: ralph.tool does it.
type Tool struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"` // for the model
	InputSchema map[string]any `json:"inputSchema"`
	Annotations struct {
		ReadOnlyHint bool `json:"readOnlyHint"` // it only looks, so nobody is asked first
	} `json:"annotations"`
}

// The tools of models.
const (
	ToolStart   = "ralph_start"
	ToolStatus  = "ralph_status"
	ToolSteer   = "ralph_steer"
	ToolChanges = "ralph_changes"
)

// ToolStartInput is all that a model may say of a start: no trust, no permissions, no walls.
type ToolStartInput struct {
	Prompt            string  `json:"prompt"`
	MaxIterations     *int    `json:"maxIterations"`
	CompletionPromise *string `json:"completionPromise"`
	Verify            string  `json:"verify"`
	Folder            string  `json:"folder"`
}

// ToolLoopInput names a loop, and for ToolSteer what its agent is told.
type ToolLoopInput struct {
	LoopID string `json:"loopId"`
	Text   string `json:"text"`
}

// ToolParams is the argument of ralph.tool.
type ToolParams struct {
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input,omitempty"`    // the model's
	Folders  []string        `json:"folders,omitempty"`  // file URIs: it is about what is there; none: about all open folders
	Settings *wire.Settings  `json:"settings,omitempty"` // the editor's, for a start
}

// ToolResult is what a tool tells. One that does something has done nothing yet: its user is asked with
// the title and the text, and the offer does it.
type ToolResult struct {
	Title  string         `json:"title,omitempty"`
	Text   string         `json:"text"`
	Offers []wire.Command `json:"offers,omitempty"`
	Done   string         `json:"done,omitempty"` // tells the model that it is done
}

// Tools are all of them.
func Tools() []Tool {
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	object := func(properties map[string]any, required ...string) map[string]any {
		schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			schema["required"] = required
		}
		return schema
	}
	loop := func(without string) map[string]any {
		return text("Which loop, as ralph_status names it; without it " + without + ".")
	}
	all := []Tool{
		{Name: ToolStart, Title: "Start a Ralph Loop", Description: "Starts a Ralph loop in an open folder: a coding agent " +
			"gets the same prompt again and again, each time with a fresh context, until it says the completion promise or a " +
			"limit is reached. The user sees what would run, and agrees first. It goes on in the background; ralph_status tells " +
			"how it does.", InputSchema: object(map[string]any{
			"prompt":            text("What each run of the agent is told: the task, how it is checked, and when the promise may be made."),
			"maxIterations":     map[string]any{"type": "integer", "minimum": 1, "description": "How many runs there may be."},
			"completionPromise": text("The words that end the loop when the agent says <promise>WORDS</promise>."),
			"verify":            text("A shell command that must succeed before a promise counts, such as the project's tests."),
			"folder":            text("In which open folder, by its path, where there are several."),
		}, "prompt")},
		{Name: ToolStatus, Title: "Status of Ralph Loops", Description: "Tells of the Ralph loops of the open folders: what " +
			"each does now, its iteration, cost, limits, questions, and how it ended.",
			InputSchema: object(map[string]any{"loopId": loop("all of them")})},
		{Name: ToolSteer, Title: "Steer a Ralph Loop", Description: "Tells the agent of a running Ralph loop something that it " +
			"should know. The user agrees first.", InputSchema: object(
			map[string]any{"text": text("What the agent is told."), "loopId": loop("the one that runs")}, "text")},
		{Name: ToolChanges, Title: "Changes of a Ralph Loop",
			Description: "Lists the files that a Ralph loop changed, with how many lines.",
			InputSchema: object(map[string]any{"loopId": loop("the one that runs, else the last")})},
	}
	for i := range all {
		all[i].Annotations.ReadOnlyHint = all[i].Name == ToolStatus || all[i].Name == ToolChanges
	}
	return all
}

// KnowsTool says whether there is a tool.
func KnowsTool(name string) bool {
	return slices.ContainsFunc(Tools(), func(t Tool) bool { return t.Name == name })
}
