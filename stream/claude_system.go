package stream

import (
	"cmp"

	"ralph-lsp/internal/jsoncursor"
)

// claudeSystem holds the fields of all the kinds of system events that matter.
type claudeSystem struct {
	subtype string
	session SessionStart // init
	retry   Retry        // api_retry
	status  int          // api_retry: of HTTP, 0 for no answer at all
	name    string       // api_retry: what went wrong
	state   string       // status: "requesting", "compacting" or none
	compact Compaction   // status, compact_boundary
	failed  bool         // status: the compaction failed
	denial  Denial       // permission_denied
}

// readClaudeSystem reads the fields of all kinds at once, as the subtype may stand
// behind them.
func readClaudeSystem(c *jsoncursor.Cursor) (s claudeSystem) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "subtype":
			s.subtype = c.Text()
		case "session_id":
			s.session.SessionID = c.Text()
		case "model":
			s.session.Model = c.Text()
		case "claude_code_version":
			s.session.Version = c.Text()
		case "attempt":
			s.retry.Attempt = int(c.Count())
		case "max_retries":
			s.retry.MaxAttempts = int(c.Count())
		case "retry_delay_ms":
			s.retry.Delay = readMilliseconds(c)
		case "error_status":
			s.status = int(c.Count())
		case "error":
			s.name = c.Text()
		case "status":
			s.state = c.Text()
		case "compact_result":
			s.failed = c.Text() == "failed"
		case "compact_error":
			s.compact.Error = c.Text()
		case "compact_metadata":
			for m := c.Object(); m.Next(); {
				if string(m.Key) == "trigger" {
					s.compact.Reason = c.Text()
				}
			}
		case "tool_name":
			s.denial.Tool = c.Text()
		case "tool_use_id":
			s.denial.ID = c.Text()
		}
	}
	return s
}

// system reads what claude says about itself. An init comes before each turn, and
// is news only when something in it is.
func (d *claudeDecoder) system(line []byte, emit func(Event)) error {
	c := jsoncursor.New(line)
	s := readClaudeSystem(c)
	if !c.Done() {
		return ErrMalformed
	}
	switch s.subtype {
	case "init":
		d.done = false
		s.session.Backend = d.backend
		if s.session != d.session {
			d.session = s.session
			emit(s.session)
		}
	case "api_retry":
		d.finishAll(false, emit) // what the failed call has said is taken back
		d.failure = ""           // the same words are a new failure from here on
		emit(s.apiRetry())
	case "status":
		switch {
		case s.failed:
			s.compact.Done = true
			s.compact.Error = cmp.Or(s.compact.Error, "the compaction failed")
			emit(s.compact)
		case s.state == "compacting":
			emit(Compaction{})
		}
	case "compact_boundary":
		s.compact.Done = true
		emit(s.compact)
	case "permission_denied": // it has no input, so the call is looked up
		s.denial.Detail, _ = d.calls.Get(s.denial.ID)
		d.deny(s.denial, emit)
	}
	return nil
}

// apiRetry says why claude asks the model again. Without an HTTP status there was
// no answer at all.
func (s claudeSystem) apiRetry() Retry {
	r := s.retry
	r.Message = s.name
	r.Kind = claudeError(s.status, "", s.name).Kind
	if s.status == 0 && (s.name == "" || s.name == "unknown") {
		r.Kind, r.Message = KindServer, "network error"
	}
	return r
}

// deny emits a denial, once for each tool call: the result lists all of them
// again.
func (d *claudeDecoder) deny(denial Denial, emit func(Event)) {
	if _, told := d.denied.Get(denial.ID); told && denial.ID != "" {
		return
	}
	d.denied.Put(denial.ID, true)
	emit(Denied{denial})
}
