package main

import (
	"fmt"
	"time"

	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// spinner turns while an agent works.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// minActivity is how far what the agent does is cut, in cells, before the
// model's name gives way.
const minActivity = 16

// liveLine is what the last line of the terminal says about a running loop:
// "⠋ Ralph 3/50 · $1.42 · 2m13s · bash go test ./... · opus". It takes at most
// width cells, and is "" for a loop that doesn't run.
func liveLine(st loop.Status, frame int, now time.Time, width int, p palette) string {
	if st.Iteration == 0 || st.State.Over() {
		return ""
	}
	mark := spinner[frame%len(spinner)]
	if st.State == loop.StatePaused {
		mark = "‖"
	}
	cost := wire.CostText(st.Cost, st.UnknownCosts)
	head := wire.JoinFacts(fmt.Sprintf("%s Ralph %s", mark, tell.OfMax(st.Iteration, st.Limits.MaxIterations)), cost, wire.RefutedText(st.Refuted), clock(st.Elapsed))
	doing := wire.Activity(st, nil, now)
	if st.State == loop.StatePaused {
		doing += ", " + goOn
	}
	model := plainLine(st.Session.Model)

	const dot = 3 // " · "
	room := width - cells(head) - dot
	if model != "" && room-cells(model)-dot >= min(cells(doing), minActivity) {
		doing = fit(doing, room-cells(model)-dot)
	} else {
		model, doing = "", fit(doing, room)
	}
	return fit(wire.JoinFacts(p.bold(head), p.cyan(doing), p.dim(model)), width)
}
