package engine

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// warnAtStart warns the user about the loop before its first iteration. A window that comes during an iteration
// doesn't see these; what it should see follows the iteration's beginning, as the goal does.
func (l *engine) warnAtStart() {
	for _, message := range l.cfg.Warnings {
		l.events.emit(loop.Warning{Message: message})
	}
	if l.cfg.OfferSandbox {
		l.events.emit(loop.Warning{Message: setup.SandboxOffer, Offer: loop.Offer{LoopID: l.id, Folder: l.cfg.Folder, Sandbox: true}})
	}
	l.events.lookAtPrompt(l.state.LastRead.Prompt)
	if l.cfg.IsTransferred() {
		return
	}
	st, cfg := l.status(), l.cfg
	cfg.Limits = st.Limits
	l.events.warn(cfg.Doubts())
	if text := l.goal.Endless(st); text != "" {
		l.events.emit(loop.Warning{Message: text})
	}
}

// lookAtPrompt warns of promises in a prompt that don't end this loop.
func (l *events) lookAtPrompt(prompt string) {
	for _, w := range l.goal.Before(prompt, l.state.Status.Promise) {
		l.emit(w)
	}
}

// tellNearMiss says why a run didn't complete the loop, the first time for each kind of reason.
func (l *events) tellNearMiss(r judge.Report) {
	miss, isNear, isNew := l.goal.After(r, l.state.Status.Promise)
	if !isNear {
		return
	}
	l.state.Totals.Missed.Add(loop.OneLine(miss.Why))
	l.state.Totals.Promised.Add(miss.Offer.Promises...)
	if isNew {
		l.emit(miss)
	}
}
