package decode

import "github.com/ralph-lsp/ralph-lsp/stream"

// common is what the decoders of agents with few lines have in common.
type common struct {
	message liveMessage
	session who                            // where the agent says that piece by piece
	calls   stream.Recent[stream.ToolCall] // the running ones
	usage   stream.Usage                   // of the run
	done    bool
}

func (d *common) Done() bool { return d.done }

func (d *common) Close(emit func(stream.Event)) { d.message.end(emit) }

func (d *common) called(call stream.ToolCall, emit func(stream.Event)) {
	d.calls.Put(call.ID, call)
	emit(call)
}

// ended tells the result of a call. isRefused: the agent's own rules did that, of which the
// result says nothing more.
func (d *common) ended(r stream.ToolResult, isRefused bool, emit func(stream.Event)) {
	call, _ := d.calls.Get(r.ID)
	d.calls.Drop(r.ID)
	emit(r)
	if isRefused {
		emit(stream.Denied{Denial: stream.Denial{Tool: call.Name, ID: r.ID, Detail: call.Detail()}})
	}
}

// turnEnds tells the end of a turn, and what the run has used with it.
func (d *common) turnEnds(end stream.TurnEnd, emit func(stream.Event)) {
	emit(end)
	d.usage = d.usage.Plus(end.Usage)
	emit(d.usage)
}
