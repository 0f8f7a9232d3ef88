package archtest

import (
	"os"
	"strings"
	"testing"
)

func TestElsewhereFindsWhatLooksAtTheState(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"elsewhere":          {"l.inbox.Elsewhere(func() { n = l.state.N })", "a/a.go:1"},
		"found out there":    {"_ = inbox.Found(&l.inbox, func() int { return l.state.N })", "a/a.go:1"},
		"a job of a queue":   {"l.queue.Add(func() { l.state.N++ }, func() {})", "a/a.go:1"},
		"that is waited for": {"l.queue.Do(func() { l.desk.Ask() }, func() {})", "a/a.go:1"},
		"a goroutine":        {"go func() { if l.state.N > 0 { f() } }()", "a/a.go:1"},
		"what follows":       {"l.queue.Add(func() {}, func() { l.state.N++ })", ""},
		"a message":          {"l.inbox.Elsewhere(func() { l.inbox.Do(func() { l.state.N++ }); l.inbox.Tell(func() { l.state.N++ }) })", ""},
		"in its turn":        {"go func() { _ = l.here(func() error { l.state.N++; return nil }) }()", ""},
		"here":               {"l.state.N++; f(func() { l.state.N++ })", ""},
		"a function":         {"go f(); l.inbox.Elsewhere(f)", ""},
	} {
		found, err := Elsewhere(tree("a/a.go", "package a; func (l *L) F() { "+tt.body+" }", "b/b.go", "package b; func (l *L) F() { go func() { l.state.N++ }() }"), "a", "state", "desk")
		if got := strings.Join(found, " "); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
	_, err := Elsewhere(tree("a/a.go", "func {"), "a")
	compare(t, "no Go at all", nil, err, "reading what is done elsewhere")
}

// How a loop stands has no lock, so the goroutine of its engine alone knows it.
func TestOnlyTheEngineKnowsHowTheLoopStands(t *testing.T) {
	for room, alive := range map[string][]string{"loop/engine": {"state", "desk"}, "loop/engine/executor": {"State", "Desk"}} {
		found, err := Elsewhere(os.DirFS(root), room, alive...)
		compare(t, room, found, err, "")
	}
}
