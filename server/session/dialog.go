package session

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// A client that opted in asks its user itself. For all others the server asks, with window/showMessageRequest. A
// question without an answer blocks only the request that waits for it.

// MessageType is LSP's MessageType.
type MessageType int

const (
	MessageError   MessageType = 1
	MessageWarning MessageType = 2
	MessageInfo    MessageType = 3
	MessageLog     MessageType = 4
)

// MessageTypes are the types of messages by the class of what they say.
var MessageTypes = map[wire.Class]MessageType{
	wire.ClassError: MessageError, wire.ClassWarning: MessageWarning, wire.ClassInfo: MessageInfo, wire.ClassOK: MessageInfo,
}

type MessageItem struct {
	Title string `json:"title"`
}

type MessageParams struct {
	Type    MessageType   `json:"type"`
	Message string        `json:"message"`
	Actions []MessageItem `json:"actions,omitempty"`
}

// A Topic is what a question is about, by the replies to it. Some clients choose the first one when
// their user only presses Return, so the one that runs, raises and loses nothing stands first.
type Topic []string

// The topics.
var (
	AboutTrust      = Topic{ActionDont, ActionTrust}
	AboutReplacing  = Topic{ActionKeep, ActionCancelAndStart}
	AboutLeftBehind = Topic{ActionKeep, ActionContinue, ActionDiscardAndStart} // a start met a loop that nobody drives
	AboutUndoing    = Topic{ActionLeave, ActionUndo}
	AboutDiscarding = Topic{ActionLeave, wire.TitleDiscardTree} // a worktree with what is in it
)

// Dialog speaks with the user of a client.
type Dialog struct {
	ed   client.Editor
	Mute *atomic.Bool // the client can't ask: it said so when it was to
}

// Ask asks the user and returns the action that was chosen, "" when none was.
// Commands behind the one that asks go on meanwhile.
func (d Dialog) Ask(ctx context.Context, message string, about Topic) string {
	return d.AskWith(ctx, MessageInfo, message, about...)
}

// Permit asks about something that err keeps from being done. It returns the chosen action, and the error for the
// answer: a user who says no needn't be told why.
func (d Dialog) Permit(ctx context.Context, message string, about Topic, err error) (string, error) {
	chosen := d.Ask(ctx, message, about)
	if chosen == about[0] {
		err = Declined(err)
	}
	return chosen, err
}

// Declined is an error of which the user needn't be told: something wasn't done as he said no.
func Declined(err error) error { return &declinedError{err} }

type declinedError struct{ error }

func (e *declinedError) Unwrap() error { return e.error }

// AskWith is ask with answers of one's own, the safe one first.
func (d Dialog) AskWith(ctx context.Context, kind MessageType, message string, replies ...string) string {
	if d.Mute.Load() {
		return ""
	}
	turns.Of(ctx).End()
	params := MessageParams{Type: kind, Message: stream.Sanitize(message)}
	for _, title := range replies {
		params.Actions = append(params.Actions, MessageItem{title})
	}
	var chosen *MessageItem
	err := d.ed.Request(ctx, "window/showMessageRequest", params, &chosen)
	if rpc.IsUnknownMethod(err) {
		d.Mute.Store(true)
	}
	if err != nil || chosen == nil {
		return ""
	}
	return chosen.Title
}

// AsksItself says whether the client asks its user without our help, or can't ask.
func (d Dialog) AsksItself() bool { return d.ed.Client().OptedIn || d.Mute.Load() }

// The actions of the questions.
const (
	ActionCancelAndStart  = "Cancel and start"
	ActionKeep            = "Keep"
	ActionContinue        = "Continue"
	ActionDiscardAndStart = "Discard and start"
	ActionLater           = "Later"
	ActionUndo            = "Undo"
	ActionTrust           = "Trust and go on"
	ActionDont            = "Don't"
	ActionLeave           = "Leave it" // the answer to an offer that changes nothing
)

// Show shows the user a message.
func (d Dialog) Show(kind MessageType, message string) {
	d.ed.Notify("window/showMessage", MessageParams{Type: kind, Message: stream.Sanitize(message)})
}

// Inform is show for a client without a plugin: any other tells its user itself
// what a command answers and what a loop says.
func (d Dialog) Inform(kind MessageType, message string) {
	if !d.ed.Client().OptedIn {
		d.Show(kind, message)
	}
}

// Answer informs of what came of a command, and of why nothing did: a client
// without a plugin shows neither.
func (d Dialog) Answer(result any, err error) {
	said := answers.AnswerOf(result)
	declined := (*declinedError)(nil)
	switch {
	case errors.As(err, &declined), errors.Is(err, context.Canceled): // the user knows
		return
	case err != nil:
		said = wire.Notice{Text: err.Error(), Class: wire.ClassError}
	}
	if said.Text != "" {
		d.Inform(MessageTypes[said.Class], "Ralph: "+said.Text)
	}
}
