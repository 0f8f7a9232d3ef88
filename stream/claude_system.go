package stream

import "cmp"

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

func (c *cursor) claudeSystem() (s claudeSystem) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "subtype":
			s.subtype = c.text()
		case "session_id":
			s.session.SessionID = c.text()
		case "model":
			s.session.Model = c.text()
		case "claude_code_version":
			s.session.Version = c.text()
		case "attempt":
			s.retry.Attempt = int(c.integer())
		case "max_retries":
			s.retry.MaxAttempts = int(c.integer())
		case "retry_delay_ms":
			s.retry.Delay = c.milliseconds()
		case "error_status":
			s.status = int(c.integer())
		case "error":
			s.name = c.text()
		case "status":
			s.state = c.text()
		case "compact_result":
			s.failed = c.text() == "failed"
		case "compact_error":
			s.compact.Error = c.text()
		case "compact_metadata":
			for m := c.object(); m.next(); {
				if string(m.key) == "trigger" {
					s.compact.Reason = c.text()
				}
			}
		case "tool_name":
			s.denial.Tool = c.text()
		case "tool_use_id":
			s.denial.ID = c.text()
		}
	}
	return s
}

func (d *claudeDecoder) system(line []byte, emit func(Event)) error {
	c := newCursor(line)
	s := c.claudeSystem()
	if !c.done() {
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
		d.finishAll(false, emit)
		d.failure = ""
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
	case "permission_denied":
		s.denial.Detail = d.calls[s.denial.ID]
		d.deny(s.denial, emit)
	}
	return nil
}

func (s claudeSystem) apiRetry() Retry {
	r := s.retry
	r.Message = s.name
	r.Kind = claudeError(s.status, "", s.name).Kind
	if s.status == 0 && (s.name == "" || s.name == "unknown") {
		r.Kind, r.Message = KindServer, "network error"
	}
	return r
}

// deny emits a denial, once for each tool call.
func (d *claudeDecoder) deny(denial Denial, emit func(Event)) {
	if denial.ID != "" && d.denied[denial.ID] {
		return
	}
	if d.denied == nil {
		d.denied = map[string]bool{}
	}
	d.denied[denial.ID] = true
	emit(Denied{denial})
}
