package stream

import (
	"cmp"

	"ralph-lsp/internal/jsoncursor"
)

// claudeResult is the event with which claude ends a turn of the user's.
type claudeResult struct {
	subtype, terminal string
	isError           bool
	judged            bool // is_error was there
	text              string
	errors            []string
	stopReason        string
	turns             int64
	status            int
	cost              Cost
	models            []claudeModel
	denials           []Denial
}

// claudeModel is what the process has used of one model since its start.
type claudeModel struct {
	name    string
	tokens  Tokens
	context int64
}

func readClaudeResult(c *jsoncursor.Cursor) (r claudeResult) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "subtype":
			r.subtype = c.Text()
		case "terminal_reason":
			r.terminal = c.Text()
		case "is_error":
			r.isError, r.judged = c.Bool(), true
		case "result":
			r.text = c.Text()
		case "errors":
			for a := c.Array(); a.Next(); {
				r.errors = append(r.errors, c.Text())
			}
		case "error": // of amp's
			if text := c.Text(); text != "" {
				r.errors = append(r.errors, text)
			}
		case "stop_reason":
			r.stopReason = c.Text()
		case "num_turns":
			r.turns = c.Count()
		case "api_error_status":
			r.status = int(c.Count())
		case "total_cost_usd":
			r.cost.USD, r.cost.Known = c.Amount()
		case "modelUsage":
			for m := c.Object(); m.Next(); {
				r.models = append(r.models, readClaudeModel(c, string(m.Key)))
			}
		case "permission_denials":
			for a := c.Array(); a.Next(); {
				r.denials = append(r.denials, readClaudeDenial(c))
			}
		}
	}
	return r
}

func readClaudeModel(c *jsoncursor.Cursor, name string) claudeModel {
	m := claudeModel{name: name}
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "inputTokens":
			m.tokens.Input = c.Count()
		case "outputTokens":
			m.tokens.Output = c.Count()
		case "cacheReadInputTokens":
			m.tokens.CacheRead = c.Count()
		case "cacheCreationInputTokens":
			m.tokens.CacheWrite = c.Count()
		case "contextWindow":
			m.context = c.Count()
		}
	}
	return m
}

func readClaudeDenial(c *jsoncursor.Cursor) (denial Denial) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "tool_name":
			denial.Tool = c.Text()
		case "tool_use_id":
			denial.ID = c.Text()
		case "tool_input":
			denial.Detail = callDetail(compactJSON(c.Raw()))
		}
	}
	return denial
}

// result ends a turn. The totals in it replace what was added up since the last
// one.
func (d *claudeDecoder) result(line []byte, emit func(Event)) error {
	c := jsoncursor.New(line)
	r := readClaudeResult(c)
	if !c.Done() {
		return ErrMalformed
	}
	if m := d.message(nil); m != nil {
		m.stopReason = cmp.Or(m.stopReason, r.stopReason)
	}
	afterthought := d.won && r.subtype == "error_during_execution" && (d.idle || r.turns == 0)
	d.finishAll(true, emit)
	for _, denial := range r.denials {
		d.deny(denial, emit)
	}
	emit(d.usage.result(r, d.session.Model))
	d.done, d.idle = true, true
	switch {
	case !r.failed():
		d.won = true
	case !afterthought: // an interrupt after a success takes nothing back
		d.fail(r.error(), emit)
	}
	return nil
}

// failed judges a result. Its subtype is the weakest witness: after API errors
// it says "success".
func (r claudeResult) failed() bool {
	switch r.terminal {
	case "api_error", "prompt_too_long", "model_error", "image_error", "blocking_limit", "rapid_refill_breaker",
		"max_turns", "budget_exhausted", "aborted_streaming", "aborted_tools":
		return true
	}
	if r.judged {
		return r.isError
	}
	return r.subtype != "success"
}

// error says in what way a failed result failed.
func (r claudeResult) error() Error {
	message := r.text
	if len(r.errors) > 0 {
		message = cmp.Or(message, r.errors[0])
	}
	e := claudeError(r.status, cmp.Or(message, r.subtype), r.terminal)
	switch {
	case r.terminal == "aborted_streaming", r.terminal == "aborted_tools":
		e = Error{Kind: KindAborted, Message: "the run was interrupted"}
	case r.terminal == "budget_exhausted", r.subtype == "error_max_budget_usd":
		e.Kind = KindBudget
	case r.terminal == "prompt_too_long":
		e.Kind = KindRequest
	case r.terminal == "max_turns":
		e.Kind = KindOther
	}
	e.Retryable = e.Kind.retryable()
	return e
}

// claudeUsage keeps a run's totals. The results count for the whole process
// and start again at 0 when the conversation is cleared; the turns since the
// last result are added to them.
type claudeUsage struct {
	cleared Usage  // of conversations before the present one
	told    Usage  // by the last result
	since   Tokens // of the turns after it
	context int64
	size    int64
}

// turn adds a turn and returns the totals.
func (u *claudeUsage) turn(t Tokens) Usage {
	u.since = u.since.Plus(t)
	if total := t.Total(); total > 0 {
		u.context = total
	}
	return u.total()
}

// result takes over what a result says and returns the totals.
func (u *claudeUsage) result(r claudeResult, mainModel string) Usage {
	if r.cost.USD < u.told.Cost.USD {
		u.cleared.Cost = u.cleared.Cost.Plus(u.told.Cost)
	}
	u.told.Cost = r.cost
	var tokens Tokens
	for _, m := range r.models {
		tokens = tokens.Plus(m.tokens)
		if m.context > 0 && (u.size == 0 || m.name == mainModel) {
			u.size = m.context
		}
	}
	if len(r.models) == 0 {
		tokens = u.told.Tokens.Plus(u.since)
	} else if tokens.Total() < u.told.Tokens.Total() {
		u.cleared.Tokens = u.cleared.Tokens.Plus(u.told.Tokens)
	}
	u.told.Tokens, u.since = tokens, Tokens{}
	return u.total()
}

func (u *claudeUsage) total() Usage {
	return Usage{
		Tokens:      u.cleared.Tokens.Plus(u.told.Tokens).Plus(u.since),
		Cost:        u.cleared.Cost.Plus(u.told.Cost),
		Context:     u.context,
		ContextSize: u.size,
	}
}
