package answers

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// ReadResult is a page of a loop's log.
type ReadResult struct {
	LoopID       string            `json:"loopId,omitempty"`       // whose log it is; none: of a session file alone
	Updates      []json.RawMessage `json:"updates"`                // each an Update
	Cursor       string            `json:"cursor"`                 // behind them
	More         bool              `json:"more"`                   // there is more right now
	Complete     bool              `json:"complete"`               // the loop is over: nothing will come
	Reset        bool              `json:"reset,omitempty"`        // the cursor isn't one of this log, which begins anew here
	SkippedLines int               `json:"skippedLines,omitempty"` // of the session file, that couldn't be read
}

// PlanParams is the argument of ralph.plan.
type PlanParams struct {
	Folder    string `json:"folder,omitempty"` // file URI
	Prompt    string `json:"prompt,omitempty"`
	Text      string `json:"text,omitempty"`      // a prompt with flags, as of a start; those of the agent count
	Selection string `json:"selection,omitempty"` // stands behind the prompt, or is it
	Backend   string `json:"backend,omitempty"`
	Hat       string `json:"hat,omitempty"`
	Trust     bool   `json:"trust,omitempty"` // see StartParams
	// SessionFileURI continues this session in pi, whichever agent's loop it is.
	SessionFileURI string `json:"sessionFileUri,omitempty"`
}

// PlanResult is the command line of an agent's own terminal interface, for the
// editor's terminal.
type PlanResult struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"` // beside the editor's own
	Cwd  string            `json:"cwd"`
}

// Check is one finding of the doctor.
type Check struct {
	ID       string `json:"id"`
	OK       bool   `json:"ok"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Optional bool   `json:"optional,omitempty"` // fine without: not every agent is installed
	Minor    bool   `json:"minor,omitempty"`    // a built-in setting, or an agent that isn't there where another one is
}

// DoctorResult is what the doctor found: its verdict, and the checks, what is wrong first.
type DoctorResult struct {
	wire.Notice
	Checks []Check `json:"checks"`
}

// DoctorResultOf says whether loops can run, and puts the checks in their order.
func DoctorResultOf(checks []Check) DoctorResult {
	rank := func(c Check) int {
		switch {
		case c.Minor && !c.OK: // agents that could be installed
			return 4
		case c.Minor:
			return 3
		case c.OK:
			return 2
		case c.Optional:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(checks, func(a, b Check) int { return cmp.Compare(rank(a), rank(b)) })
	verdict := wire.Notice{Text: "loops can run here", Class: wire.ClassOK}
	for _, c := range checks {
		switch {
		case !c.OK && !c.Optional:
			verdict = wire.Notice{Text: "loops can't run here", Class: wire.ClassError}
		case c.ID == "backend" && verdict.Class == wire.ClassOK:
			verdict.Text += ": " + c.Message
		}
	}
	return DoctorResult{verdict, checks}
}

// AgentsResult lists the agents that a start can name: those that work first.
type AgentsResult struct {
	Agents []AgentInfo `json:"agents"`
}

// HatsResult lists the hats that a start can name, as their files have them.
type HatsResult struct {
	Hats []HatInfo `json:"hats"`
}

// HatInfo is a hat that a start can name.
type HatInfo struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"` // what it is for
}

// HatsOf tells of the hats of a folder.
func HatsOf(s config.Settings) HatsResult {
	r := HatsResult{Hats: []HatInfo{}}
	for _, h := range s.HatSet() {
		r.Hats = append(r.Hats, HatInfo{h.Name, wire.OneLine(h.Description)})
	}
	return r
}

// AgentInfo is an agent that a start can name.
type AgentInfo struct {
	Name       string     `json:"name"` // for the backend of a start
	Version    string     `json:"version,omitempty"`
	Path       string     `json:"path,omitempty"` // of its program
	Installed  bool       `json:"installed"`
	Default    bool       `json:"default,omitempty"`    // a start that names none takes it
	TakesModel bool       `json:"takesModel,omitempty"` // it can be told its model
	Install    string     `json:"install,omitempty"`    // the command line that installs it
	Text       string     `json:"text"`                 // how it stands, in one line
	Class      wire.Class `json:"class"`
}

// AgentOf tells of an agent what was found of it on this machine.
func AgentOf(p backends.Probe) AgentInfo {
	b := p.Backend
	info := AgentInfo{Name: b.Name, Version: p.Number(), Path: stream.Sanitize(p.Path), Installed: p.Path != "",
		TakesModel: b.ModelFlag != "", Install: b.Install, Class: wire.ClassOK}
	info.Text = wire.SessionText(stream.SessionStart{Backend: b.Name, Version: info.Version})
	switch {
	case !info.Installed:
		info.Text, info.Class = wire.OneLine(b.Name+" is not installed"), wire.ClassInfo
		if how := b.HowToInstall(); how != "" {
			info.Text += ": " + how
		}
	case p.Err != nil:
		info.Text, info.Class = b.Name+" doesn't work here: "+wire.OneLine(p.Err.Error()), wire.ClassWarning
	}
	return info
}

// ConfigProblem is a problem in a configuration file; line and column are
// 1-based, the column in bytes.
type ConfigProblem struct {
	FileURI string `json:"fileUri"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func ProblemsOf(e *config.InvalidError) []ConfigProblem {
	problems := make([]ConfigProblem, len(e.Problems))
	for i, p := range e.Problems {
		problems[i] = ConfigProblem{wire.FileURI(p.File), p.Line, p.Column, p.Message}
	}
	return problems
}
