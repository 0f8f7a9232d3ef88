package decode

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piEvent holds the fields of all the kinds of events that come seldom.
type piEvent struct {
	ID     string // of session, response, extension_ui_request
	Reason string // of compaction_start, compaction_end
	Entry  struct {
		Type  string
		Usage piUsage
	}

	Attempt, MaxAttempts jsoncursor.Int // of auto_retry_start
	DelayMs              milliseconds
	ErrorMessage         string // of compaction_end, too
	Success              bool   // of auto_retry_end, response
	FinalError           string

	Command string // of response
	Error   string

	Steering []string // of queue_update

	Data struct { // of response
		IsStreaming *bool // to get_state
	}

	Method, Title, Message string // of extension_ui_request
	Options                []string
	Placeholder, Prefill   string

	Aborted bool // of agent_settled, compaction_end
	Result  struct {
		Usage                *piUsage
		EstimatedTokensAfter jsoncursor.Int
	}
}

// seldom reads an event that comes a few times in a run at most.
func (d *piDecoder) seldom(kind string, line []byte, emit func(stream.Event)) error {
	var ev piEvent
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	switch kind {
	case "session":
		d.session = who{}
		d.session.tell(stream.SessionStart{Backend: "pi", SessionID: ev.ID}, emit)
	case "agent_start", "turn_start":
		d.begun, d.done, d.resting = true, false, false
	case "auto_retry_start": // the same words are a new failure from here on
		d.done, d.resting, d.failure = false, false, ""
		e := stream.ClassifyError(0, ev.ErrorMessage, time.Now())
		emit(stream.Retry{Attempt: int(ev.Attempt), MaxAttempts: int(ev.MaxAttempts), Delay: ev.DelayMs.duration(), Kind: e.Kind,
			Message: e.Message})
	case "auto_retry_end":
		if !ev.Success {
			d.failure.tell(piError("error", ev.FinalError), emit)
		}
	case "compaction_start":
		d.resting = false
		emit(stream.Compaction{Reason: ev.Reason})
	case "compaction_end":
		d.compacted(ev, emit)
	case "response", "queue_update", "extension_ui_request":
		d.talk(kind, ev, emit)
	case "agent_settled": // the end of a run; an abort that no message has told is told here
		d.done = true
		if ev.Aborted && d.failure == "" {
			d.failure.tell(piError("aborted", "the run was aborted"), emit)
		}
	case "entry_appended": // of pi's session; usage keeps the provider's cache warm, beside the turns
		used := stream.Usage(ev.Entry.Usage)
		if used.Context = 0; ev.Entry.Type == "usage" && used.Counts() {
			d.use(used, emit)
		}
	}
	return nil
}

// compacted tells the end of a compaction. Its model call belongs to no turn and is
// counted here. The context afterwards is pi's own estimate.
func (d *piDecoder) compacted(ev piEvent, emit func(stream.Event)) {
	d.resting = false
	e := stream.Compaction{Reason: ev.Reason, Done: true, Error: ev.ErrorMessage}
	if ev.Aborted {
		e.Error = cmp.Or(e.Error, "aborted")
	}
	emit(e)
	if ev.Result.Usage != nil {
		used := stream.Usage(*ev.Result.Usage)
		used.Context = int64(ev.Result.EstimatedTokensAfter)
		d.use(used, emit)
	}
}

// agentEnd reads the end of a try, which repeats all of its messages. Another one
// may follow: pi says so since it has willRetry, and then agent_settled is the end.
func (d *piDecoder) agentEnd(line []byte) error {
	willRetry, known := false, false
	c := jsoncursor.New(line)
	c.Members("willRetry", func() { willRetry, known = c.Bool(), true })
	if !c.Done() {
		return ErrMalformed
	}
	d.done = !known
	d.resting = !willRetry
	return nil
}

// talk reads what only the rpc mode has. A prompt that is refused is the end: nothing
// follows, and pi waits for another one. So it is with one that an extension took for
// itself, which only pi's state tells then.
func (d *piDecoder) talk(kind string, ev piEvent, emit func(stream.Event)) {
	switch kind {
	case "response":
		isStreaming := ev.Data.IsStreaming
		switch {
		case ev.Command == "prompt" && ev.Success:
			d.accepted = true
			emit(stream.Heard{ID: ev.ID})
		case ev.Command == "prompt":
			d.refused(piError("error", cmp.Or(ev.Error, "the prompt was refused")), emit)
		case ev.Command == "get_state" && d.accepted && !d.begun && isStreaming != nil && !*isStreaming:
			d.refused(stream.Error{Message: "an extension of pi's took the prompt for itself (as its command, say), so no agent worked"}, emit)
		}
	case "queue_update": // a message that leaves the queue is read right after this, or was taken back
		for _, text := range ev.Steering {
			d.steering.Put(textKey(text), true)
		}
	case "extension_ui_request":
		switch ev.Method {
		case "confirm", "select", "input", "editor":
			emit(stream.Question{ID: ev.ID, Method: ev.Method, Title: ev.Title, Message: ev.Message, Options: ev.Options,
				Placeholder: ev.Placeholder, Prefill: ev.Prefill})
		}
	}
}

// refused ends a run that never began.
func (d *piDecoder) refused(e stream.Error, emit func(stream.Event)) {
	e.Refused, d.done = true, true
	d.failure.tell(e, emit)
}
