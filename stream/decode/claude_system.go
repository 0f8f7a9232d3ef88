package decode

import (
	"cmp"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeSystem holds the fields of all the kinds of system events that matter.
type claudeSystem struct {
	Subtype   string
	SessionID string `json:"session_id"` // init
	Model     string
	Version   string `json:"claude_code_version"`

	Attempt     jsoncursor.Int // api_retry
	MaxRetries  jsoncursor.Int `json:"max_retries"`
	RetryDelay  milliseconds   `json:"retry_delay_ms"`
	ErrorStatus jsoncursor.Int `json:"error_status"` // of HTTP, 0 for no answer at all
	Error       string         // what went wrong

	Status          string // status: "requesting", "compacting" or none
	CompactResult   string `json:"compact_result"`
	CompactError    string `json:"compact_error"`
	CompactMetadata struct {
		Trigger string // also of compact_boundary
	} `json:"compact_metadata"`

	claudeDenial // permission_denied; task_notification has its ID, too

	Summary string          // task_notification: what it said last
	Usage   json.RawMessage // the same
}

// claudeDenial is a tool call that was refused. Only a result has its input.
type claudeDenial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// system reads what claude says about itself. An init comes before each turn, and
// is news only when something in it is.
func (d *claudeDecoder) system(line []byte, emit func(stream.Event)) error {
	var s claudeSystem
	if err := readEvent(line, &s); err != nil {
		return err
	}
	switch s.Subtype {
	case "init":
		d.done = false
		d.session.tell(stream.SessionStart{Backend: d.backend, Version: s.Version, Model: s.Model, SessionID: s.SessionID}, emit)
	case "api_retry":
		d.finishAll(false, emit) // the text of the failed call is taken back
		d.failure = ""           // the same words are a new failure from here on
		emit(s.apiRetry())
	case "status":
		switch {
		case s.CompactResult == "failed":
			emit(stream.Compaction{Reason: s.CompactMetadata.Trigger, Done: true, Error: cmp.Or(s.CompactError, "the compaction failed")})
		case s.Status == "compacting":
			emit(stream.Compaction{})
		}
	case "task_notification":
		d.taskEnded(s, emit)
	case "compact_boundary":
		emit(stream.Compaction{Reason: s.CompactMetadata.Trigger, Done: true, Error: s.CompactError})
	case "permission_denied": // it has no input, so the call is looked up
		detail, _ := d.calls.Get(s.ID)
		d.deny(stream.Denial{Tool: s.Tool, ID: s.ID, Detail: detail}, emit)
	}
	return nil
}

// apiRetry says why claude asks the model again. Without an HTTP status there was
// no answer at all.
func (s claudeSystem) apiRetry() stream.Retry {
	r := stream.Retry{Attempt: int(s.Attempt), MaxAttempts: int(s.MaxRetries), Delay: s.RetryDelay.duration(), Message: s.Error}
	r.Kind = claudeError(int(s.ErrorStatus), "", s.Error).Kind
	if s.ErrorStatus == 0 && (s.Error == "" || s.Error == "unknown") {
		r.Kind, r.Message = stream.KindNetwork, "network error"
	}
	return r
}

// deny emits a denial, once for each tool call: the result lists all of them
// again.
func (d *claudeDecoder) deny(denial stream.Denial, emit func(stream.Event)) {
	if _, told := d.denied.Get(denial.ID); told && denial.ID != "" {
		return
	}
	d.denied.Put(denial.ID, true)
	emit(stream.Denied{Denial: denial})
}
