package client

import (
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Frame is a line that isn't one of the journal: journal lines begin with journal.LineHead, frames are JSON with a
// kind. Either side skips unknown fields and kinds.
type Frame struct {
	Kind string `json:"k"`

	// Of a window:
	Config  json.RawMessage `json:"config,omitempty"`  // begin: encoded by setup.Config.Encode
	Hello   *Hello          `json:"hello,omitempty"`   // begin, hello
	N       int             `json:"n,omitempty"`       // do, reply: which request
	Request *loop.Request   `json:"request,omitempty"` // do
	Known   *Known          `json:"known,omitempty"`   // said: nil where that failed

	// Of a keeper:
	LoopID   string        `json:"loopId,omitempty"` // welcome
	PID      int           `json:"pid,omitempty"`    // welcome: the keeper's
	Owns     bool          `json:"owns,omitempty"`   // welcome: the window owns the loop
	Reply    *loop.Reply   `json:"reply,omitempty"`  // refused, reply
	Status   *loop.Status  `json:"status,omitempty"` // welcome, status
	Urgent   bool          `json:"urgent,omitempty"` // status: it is to be seen at once
	Cursor   string        `json:"cursor,omitempty"` // welcome: behind which it is told the story; at: behind the lines so far
	Behind   int64         `json:"behind,omitempty"` // at: bytes of lines that follow
	Lost     bool          `json:"lost,omitempty"`   // at: some before them couldn't be kept
	Progress *journal.Item `json:"progress,omitempty"`
	Text     string        `json:"text,omitempty"`  // note, ring, said: why that failed
	Paths    []string      `json:"paths,omitempty"` // ask: which files it is about; none: all that is known
	End      *loop.End     `json:"end,omitempty"`   // over
	// Unanswered are questions that were open at the end.
	Unanswered []ask.Question `json:"unanswered,omitempty"`
}

// FrameHead is what a frame begins with.
const FrameHead = `{"k":`

// Kinds of frames. A window begins a loop or connects to one, and then does.
const (
	Begin    = "begin"
	Connect  = "hello"
	Do       = "do"
	Welcome  = "welcome"
	Refused  = "refused"
	At       = "at"
	Progress = "progress"
	Status   = "status"
	Reply    = "reply"
	Note     = "note" // a line for who looks on
	Ring     = "ring" // codes that call the user at a terminal
	Left     = "left" // the loop was detached: it needs no window any more
	Over     = "over" // all is told
	Ask      = "ask"  // the window's editor is asked what it knows of files; n of the answer is the same
	Said     = "said" // the answer
)

// Known is what an editor knows of files.
type Known struct {
	verify.Diagnosis
	Settled bool `json:"settled,omitempty"`
}

// Hello says who a window is.
type Hello struct {
	PID    int    `json:"pid"`
	From   string `json:"from,omitempty"`   // the loop that it is below, as it says
	Cursor string `json:"cursor,omitempty"` // behind which it is told the story; "": from its beginning
	Owns   bool   `json:"owns,omitempty"`   // the loop ends with it, unless it is kept; one that was detached ends with it again
	// Editor: the window also owns loops that another editor has begun, such as itself before a reload.
	Editor bool `json:"editor,omitempty"`
	// Returns is how long a loop that it owns goes on without an owner, in which it may be back. The longest of all owners counts.
	Returns   time.Duration `json:"returns,omitempty"`
	Diagnoses bool          `json:"diagnoses,omitempty"` // it can be asked what its language servers know
	Answers   bool          `json:"answers,omitempty"`   // agents' questions are answered there
	Terminal  bool          `json:"terminal,omitempty"`  // its user can be called there
	BellOnly  bool          `json:"bellOnly,omitempty"`  // no text of ours is to be shown there
}

// MaxFrame bounds a frame, in bytes: a prompt, or a status with what was asked.
const MaxFrame = 64 << 20
