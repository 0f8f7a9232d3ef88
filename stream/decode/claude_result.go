package decode

import (
	"cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeResult is the event with which claude ends a turn of the user's.
type claudeResult struct {
	Subtype    string
	Terminal   string         `json:"terminal_reason"`
	IsError    *bool          `json:"is_error"`
	Text       string         `json:"result"`
	Errors     []string       // claude's
	Error      string         // amp's
	StopReason string         `json:"stop_reason"`
	Turns      jsoncursor.Int `json:"num_turns"`
	Status     jsoncursor.Int `json:"api_error_status"`
	Cost       amount         `json:"total_cost_usd"`
	Models     claudeModels   `json:"modelUsage"`
	Denials    []claudeDenial `json:"permission_denials"`
}

// claudeModels is what the process has used of each model since its start, in the
// order in which claude tells of them.
type claudeModels []claudeModel

type claudeModel struct {
	name    string
	tokens  stream.Tokens
	context int64
}

func (models *claudeModels) UnmarshalJSON(data []byte) error {
	*models = nil
	c := jsoncursor.New(data)
	for o := c.Object(); o.Next(); {
		m := claudeModel{name: string(o.Key)}
		c.Members("inputTokens", &m.tokens.Input, "outputTokens", &m.tokens.Output, "cacheReadInputTokens", &m.tokens.CacheRead,
			"cacheCreationInputTokens", &m.tokens.CacheWrite, "contextWindow", &m.context)
		*models = append(*models, m)
	}
	return nil
}

// result ends a turn. The totals in it replace what was added up since the last
// one.
func (d *claudeDecoder) result(line []byte, emit func(stream.Event)) error {
	var r claudeResult
	if err := readEvent(line, &r); err != nil {
		return err
	}
	if m := d.message(nil); m != nil {
		m.stopReason = cmp.Or(m.stopReason, r.StopReason)
	}
	afterthought := d.won && r.Subtype == "error_during_execution" && (d.idle || r.Turns == 0)
	d.finishAll(true, emit)
	for _, denied := range r.Denials {
		d.deny(stream.Denial{Tool: denied.Tool, ID: denied.ID, Detail: stream.ToolCall{Input: compactJSON(denied.Input)}.Detail()}, emit)
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
	switch r.Terminal {
	case "api_error", "prompt_too_long", "model_error", "image_error", "blocking_limit", "rapid_refill_breaker",
		"max_turns", "budget_exhausted", "aborted_streaming", "aborted_tools":
		return true
	}
	if r.IsError != nil {
		return *r.IsError
	}
	return r.Subtype != "success"
}

// error says in what way a failed result failed.
func (r claudeResult) error() stream.Error {
	message := cmp.Or(r.Text, append(r.Errors, r.Error)[0], r.Subtype)
	e := claudeError(int(r.Status), message, r.Terminal)
	switch {
	case r.Terminal == "aborted_streaming", r.Terminal == "aborted_tools":
		e = stream.Error{Kind: stream.KindAborted, Message: "the run was interrupted"}
	case r.Terminal == "budget_exhausted", r.Subtype == "error_max_budget_usd":
		e.Kind = stream.KindBudget
	case r.Terminal == "prompt_too_long":
		e.Kind = stream.KindRequest
	case r.Terminal == "max_turns":
		e.Kind = stream.KindOther
	}
	return e
}

// claudeUsage keeps a run's totals. The results count for the whole process
// and start again at 0 when the conversation is cleared; the turns since the
// last result are added to them.
type claudeUsage struct {
	cleared stream.Usage  // of conversations before the present one
	told    stream.Usage  // by the last result
	since   stream.Tokens // of the turns after it
	context int64
	size    int64
}

// turn adds a turn and returns the totals.
func (u *claudeUsage) turn(t stream.Tokens) stream.Usage {
	u.since = u.since.Plus(t)
	if total := t.Total(); total > 0 {
		u.context = total
	}
	return u.total()
}

// result takes over what a result says and returns the totals.
func (u *claudeUsage) result(r claudeResult, mainModel string) stream.Usage {
	if r.Cost.USD < u.told.Cost.USD {
		u.cleared.Cost = u.cleared.Cost.Plus(u.told.Cost)
	}
	u.told.Cost = stream.Cost(r.Cost)
	var tokens stream.Tokens
	for _, m := range r.Models {
		tokens = tokens.Plus(m.tokens)
		if m.context > 0 && (u.size == 0 || m.name == mainModel) {
			u.size = m.context
		}
	}
	if len(r.Models) == 0 {
		tokens = u.told.Tokens.Plus(u.since)
	} else if tokens.Total() < u.told.Tokens.Total() {
		u.cleared.Tokens = u.cleared.Tokens.Plus(u.told.Tokens)
	}
	u.told.Tokens, u.since = tokens, stream.Tokens{}
	return u.total()
}

func (u *claudeUsage) total() stream.Usage {
	return stream.Usage{
		Tokens:      u.cleared.Tokens.Plus(u.told.Tokens).Plus(u.since),
		Cost:        u.cleared.Cost.Plus(u.told.Cost),
		Context:     u.context,
		ContextSize: u.size,
	}
}
