package server

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

// A client that opted in asks its user itself. For all others the server asks,
// with window/showMessageRequest. Whoever doesn't answer blocks nothing but the
// request that waits for it.

// messageType is LSP's MessageType.
type messageType int

const (
	messageError   messageType = 1
	messageWarning messageType = 2
	messageInfo    messageType = 3
	messageLog     messageType = 4
)

// messageTypes are the types of messages by the class of what they say.
var messageTypes = map[wire.Class]messageType{
	wire.ClassError: messageError, wire.ClassWarning: messageWarning, wire.ClassInfo: messageInfo, wire.ClassOK: messageInfo,
}

type messageItem struct {
	Title string `json:"title"`
}

type messageParams struct {
	Type    messageType   `json:"type"`
	Message string        `json:"message"`
	Actions []messageItem `json:"actions,omitempty"`
}

// topic is what a question is about.
type topic int

const (
	aboutTrust topic = iota
	aboutReplacing
	aboutLeftBehind // a start met a loop that nobody drives
	aboutUndoing
	aboutDiscarding // a worktree with what is in it
)

// replies are those to each question. Some clients choose the first one when
// their user only presses Return, so the one that runs, raises and loses
// nothing stands first.
var replies = [...]struct {
	safe   string
	others []string
}{
	aboutTrust:      {actionDont, []string{actionTrust}},
	aboutReplacing:  {actionKeep, []string{actionCancelAndStart}},
	aboutLeftBehind: {actionKeep, []string{actionContinue, actionDiscardAndStart}},
	aboutUndoing:    {actionLeave, []string{actionUndo}},
	aboutDiscarding: {actionLeave, []string{wire.TitleDiscardTree}},
}

// dialog speaks with the user of a client.
type dialog struct {
	ed   client.Editor
	mute *atomic.Bool // the client can't ask: it said so when it was to
}

// ask asks the user and returns the action that was chosen, "" when none was.
// Commands behind the one that asks go on meanwhile.
func (d dialog) ask(ctx context.Context, message string, about topic) string {
	return d.askWith(ctx, messageInfo, message, replies[about].safe, replies[about].others...)
}

// permit is ask about something that err keeps from being done. It returns the
// action that was chosen, and err as it is to be answered: whoever says no needn't
// be told why.
func (d dialog) permit(ctx context.Context, message string, about topic, err error) (string, error) {
	chosen := d.ask(ctx, message, about)
	if chosen == replies[about].safe {
		err = &declinedError{err}
	}
	return chosen, err
}

// declinedError is why something wasn't done that the user was asked about.
type declinedError struct{ error }

func (e *declinedError) Unwrap() error { return e.error }

// askWith is ask with answers of one's own, the safe one first.
func (d dialog) askWith(ctx context.Context, kind messageType, message, safe string, others ...string) string {
	if d.mute.Load() {
		return ""
	}
	turns.Of(ctx).End()
	params := messageParams{Type: kind, Message: stream.Plain(message), Actions: []messageItem{{safe}}}
	for _, title := range others {
		params.Actions = append(params.Actions, messageItem{title})
	}
	var chosen *messageItem
	err := d.ed.Request(ctx, "window/showMessageRequest", params, &chosen)
	if rpc.IsUnknownMethod(err) {
		d.mute.Store(true)
	}
	if err != nil || chosen == nil {
		return ""
	}
	return chosen.Title
}

// asksItself says whether the client asks its user without our help, or can't ask.
func (d dialog) asksItself() bool { return d.ed.Client().OptedIn || d.mute.Load() }

// The actions of the questions.
const (
	actionCancelAndStart  = "Cancel and start"
	actionKeep            = "Keep"
	actionContinue        = "Continue"
	actionDiscardAndStart = "Discard and start"
	actionLater           = "Later"
	actionUndo            = "Undo"
)

// show shows the user a message.
func (d dialog) show(kind messageType, message string) {
	d.ed.Notify("window/showMessage", messageParams{Type: kind, Message: stream.Plain(message)})
}

// inform is show for a client without a plugin: any other tells its user itself
// what a command answers and what a loop says.
func (d dialog) inform(kind messageType, message string) {
	if !d.ed.Client().OptedIn {
		d.show(kind, message)
	}
}

// answer informs of what came of a command, and of why nothing did: a client
// without a plugin shows neither.
func (d dialog) answer(result any, err error) {
	said := answers.AnswerOf(result)
	declined := (*declinedError)(nil)
	switch {
	case errors.As(err, &declined), errors.Is(err, context.Canceled): // the user knows
		return
	case err != nil:
		said = wire.Said{Text: err.Error(), Class: wire.ClassError}
	}
	if said.Text != "" {
		d.inform(messageTypes[said.Class], "Ralph: "+said.Text)
	}
}
