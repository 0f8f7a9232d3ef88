package stream

import (
	"time"

	"ralph-lsp/internal/jsoncursor"
)

// agentEnd reads the end of a try. Another one may follow: pi says so since it has
// willRetry, and then agent_settled is the end.
func (d *piDecoder) agentEnd(line []byte) error {
	willRetry, known := false, false
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "willRetry" {
			willRetry, known = c.Bool(), true
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	d.done = !known
	d.resting = !willRetry
	return nil
}

// settled reads the end of a run. An abort that no message has told is told here.
func (d *piDecoder) settled(line []byte, emit func(Event)) error {
	aborted := false
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "aborted" {
			aborted = c.Bool()
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	d.done = true
	if aborted && d.failure == "" {
		d.failure.tell(piError("aborted", "the run was aborted"), emit)
	}
	return nil
}

// retryStart announces that pi waits and asks the model again. The same words
// are a new failure from here on.
func (d *piDecoder) retryStart(line []byte, emit func(Event)) error {
	var r Retry
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "attempt":
			r.Attempt = int(c.Count())
		case "maxAttempts":
			r.MaxAttempts = int(c.Count())
		case "delayMs":
			r.Delay = readMilliseconds(c)
		case "errorMessage":
			e := ClassifyError(0, c.Text(), time.Now())
			r.Kind, r.Message = e.Kind, e.Message
		}
	}
	if !c.Done() {
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
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "success":
			success = c.Bool()
		case "finalError":
			message = c.Text()
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	if !success {
		d.failure.tell(piError("error", message), emit)
	}
	return nil
}

// compaction reads both events of a compaction; only the second has a result.
// Its model call belongs to no turn and is counted here.
func (d *piDecoder) compaction(line []byte, emit func(Event)) error {
	var e Compaction
	var used *Usage
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			e.Done = c.Text() == "compaction_end"
		case "reason":
			e.Reason = c.Text()
		case "errorMessage":
			e.Error = c.Text()
		case "aborted":
			if c.Bool() && e.Error == "" {
				e.Error = "aborted"
			}
		case "result":
			used = readCompactionUsage(c)
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	d.resting = false
	emit(e)
	if used != nil {
		d.use(*used, emit)
	}
	return nil
}

// readCompactionUsage reads what a compaction has used, nil if that isn't said.
// The context afterwards is pi's own estimate.
func readCompactionUsage(c *jsoncursor.Cursor) (used *Usage) {
	var context int64
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "usage":
			u := readPiUsage(c)
			used = &u
		case "estimatedTokensAfter":
			context = c.Count()
		}
	}
	if used != nil {
		used.Context = context
	}
	return used
}
