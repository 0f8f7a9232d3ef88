package stream

import "time"

func (d *piDecoder) agentEnd(line []byte) error {
	willRetry, known := false, false
	c := newCursor(line)
	for o := c.object(); o.next(); {
		if string(o.key) == "willRetry" {
			willRetry, known = c.boolean(), true
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.done = !known // since willRetry exists, agent_settled follows sooner or later
	d.resting = !willRetry
	return nil
}

func (d *piDecoder) settled(line []byte, emit func(Event)) error {
	aborted := false
	c := newCursor(line)
	for o := c.object(); o.next(); {
		if string(o.key) == "aborted" {
			aborted = c.boolean()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.done = true
	if aborted && d.failure == "" {
		d.fail(piError("aborted", "the run was aborted"), emit)
	}
	return nil
}

// retryStart announces that pi waits and asks the model again.
func (d *piDecoder) retryStart(line []byte, emit func(Event)) error {
	var r Retry
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "attempt":
			r.Attempt = int(c.integer())
		case "maxAttempts":
			r.MaxAttempts = int(c.integer())
		case "delayMs":
			r.Delay = c.milliseconds()
		case "errorMessage":
			e := ClassifyError(0, c.text(), time.Now())
			r.Kind, r.Message = e.Kind, e.Message
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.done, d.resting = false, false
	d.failure = ""
	emit(r)
	return nil
}

// retryEnd emits the error with which pi gives up retrying.
func (d *piDecoder) retryEnd(line []byte, emit func(Event)) error {
	var success bool
	var message string
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "success":
			success = c.boolean()
		case "finalError":
			message = c.text()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	if !success {
		d.fail(piError("error", message), emit)
	}
	return nil
}

// compaction reads both events of a compaction; only the second has a result.
// Its model call belongs to no turn and is counted here.
func (d *piDecoder) compaction(line []byte, emit func(Event)) error {
	var e Compaction
	var used *Usage
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "type":
			e.Done = c.text() == "compaction_end"
		case "reason":
			e.Reason = c.text()
		case "errorMessage":
			e.Error = c.text()
		case "aborted":
			if c.boolean() && e.Error == "" {
				e.Error = "aborted"
			}
		case "result":
			used = c.compactionUsage()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.resting = false
	emit(e)
	if used != nil {
		d.use(*used, emit)
	}
	return nil
}

// compactionUsage reads what a compaction has used, nil if that isn't said.
// The context afterwards is pi's own estimate.
func (c *cursor) compactionUsage() (used *Usage) {
	var context int64
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "usage":
			u := c.piUsage()
			used = &u
		case "estimatedTokensAfter":
			context = c.integer()
		}
	}
	if used != nil {
		used.Context = context
	}
	return used
}
