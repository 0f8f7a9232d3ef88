package door

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// begunBy has a window that has begun the loop, and is welcomed.
func (h *house) begunBy(hello client.Hello) *guest {
	theirs, ours := net.Pipe()
	w := NewWindow(ours, hello)
	go h.door.Serve(w, bufio.NewReader(ours))
	return &guest{h: h, conn: theirs, in: bufio.NewReader(theirs)}
}

// drains reads what a window is told, until it is gone, as one that isn't told more is no window.
func (g *guest) drains() {
	go func() {
		for {
			if _, err := g.in.ReadBytes('\n'); err != nil {
				return
			}
		}
	}()
}

// A loop ends with the last window that owns it: at once, or a while later where that may be back. The moves are of
// windows: +e an editor comes, +t a terminal, +o one that takes the loop, -e, -t and -o go, detach, and 2s, which pass.
func TestWhoOwnsALoop(t *testing.T) {
	returns := 5 * time.Second
	for _, tt := range []struct{ first, moves, want string }{
		{"e", "-e 4s", "waits"},
		{"e", "-e 4s +e 9s", "goes on"},
		{"e", "-e 4s +e -e 4s", "waits"},
		{"e", "-e 4s +e -e 4s 2s", "ended"},
		{"e", "-e 6s", "ended"},
		{"e", "-e 4s +t 2s", "ended"},
		{"e", "+e -e 9s", "goes on"},
		{"e", "+t -e 9s", "ended"},
		{"e", "-e detach 9s", "goes on"},
		{"e", "detach -e 9s", "goes on"},
		{"e", "detach -e +e -e 9s", "goes on"},
		{"e", "+o -o -e 4s", "waits"},
		{"e", "+o -e 1s -o 4s", "waits"},
		{"t", "-t 0s", "ended"},
		{"t", "+e -t 0s", "ended"},
		{"t", "+t +e -e 9s", "goes on"},
		{"t", "+o -t 9s", "goes on"},
		{"t", "+o -t -o 0s", "ended"},
		{"t", "detach -t +o 9s", "goes on"},
		{"t", "detach -t +o -o 0s", "ended"},
		{"e", "detach -e +o +t -o 0s", "ended"},
		{"e", "detach +o -o 0s", "ended"},
		{"e", "detach +o detach -o -e 9s", "goes on"},
	} {
		t.Run(tt.first+" "+tt.moves, func(t *testing.T) {
			inHouse(t, false, func(h *house) {
				ended := false
				h.door.Orphaned(func() { ended = true })
				is := map[string]client.Hello{"e": {Editor: true, Returns: returns}, "t": {}, "o": {Owns: true}}
				hello := is[tt.first]
				hello.Owns = true
				begun := h.begunBy(hello)
				windows := map[string][]*guest{tt.first: {begun}}
				if !begun.hears(client.Welcome).Owns {
					t.Error("who has begun it doesn't own it")
				}
				begun.drains()
				for move := range strings.FieldsSeq(tt.moves) {
					synctest.Wait()
					who := move[1:]
					wait, err := time.ParseDuration(move)
					switch {
					case move == "detach":
						h.door.Loosen()
					case move[0] == '+':
						g := h.comes(is[who])
						g.hears(client.Welcome)
						g.drains()
						windows[who] = append(windows[who], g)
					case move[0] == '-':
						windows[who][0].conn.Close()
						windows[who] = windows[who][1:]
					case err == nil:
						time.Sleep(wait)
					}
				}
				synctest.Wait()
				got := "goes on"
				if h.door.grace != nil {
					got = "waits"
				}
				if ended {
					got = "ended"
				}
				if got != tt.want {
					t.Errorf("it %s, want %s", got, tt.want)
				}
				for _, all := range windows {
					for _, g := range all {
						g.conn.Close()
					}
				}
				h.door.Finish(loop.End{})
			})
		})
	}
}

// Those who own a loop hear that it needs them no more.
func TestOwnersHearThatALoopWasDetached(t *testing.T) {
	inHouse(t, false, func(h *house) {
		g := h.begunBy(client.Hello{Owns: true, Editor: true})
		g.hears(client.Welcome)
		other := h.comes(client.Hello{Editor: true})
		if !other.hears(client.Welcome).Owns {
			t.Error("another window of the editor doesn't own it")
		}
		h.door.Loosen()
		g.hears(client.Left)
		other.hears(client.Left)
		late := h.comes(client.Hello{Editor: true})
		if late.hears(client.Welcome).Owns {
			t.Error("somebody owns it again")
		}
		for _, each := range []*guest{g, other, late} {
			each.conn.Close()
		}
		h.door.Finish(loop.End{})
	})
}

// The editor that came last is asked what it knows. Without one, or when it goes, nobody knows.
func TestAnEditorIsAskedWhatItKnows(t *testing.T) {
	inHouse(t, false, func(h *house) {
		if _, err := h.door.Diagnose(context.Background(), nil); !errors.Is(err, errNoEditor) {
			t.Errorf("nobody says %v", err)
		}
		comes := func(hello client.Hello) *guest {
			g := h.comes(hello)
			g.hears(client.Welcome)
			return g
		}
		first, last := comes(client.Hello{Diagnoses: true}), comes(client.Hello{Diagnoses: true})
		comes(client.Hello{})
		type answer struct {
			verify.Diagnosis
			error
		}
		answers := make(chan answer)
		ask := func() {
			d, err := h.door.Diagnose(context.Background(), []string{"a.go"})
			answers <- answer{d, err}
		}
		known := verify.Diagnosis{Seen: []string{"a.go"}, Settled: true}
		for _, said := range []client.Frame{{Known: &client.Known{Diagnosis: known, Settled: true}}, {Text: "no language server"}} {
			go ask()
			asked := last.hears(client.Ask)
			if len(asked.Paths) != 1 || asked.Paths[0] != "a.go" {
				t.Errorf("it is asked of %q", asked.Paths)
			}
			said.Kind, said.N = client.Said, asked.N
			data, _ := json.Marshal(said)
			for range 2 { // the second one answers nothing
				if _, err := last.conn.Write(append(data, '\n')); err != nil {
					t.Fatal(err)
				}
			}
			got := <-answers
			if isKnown := said.Known != nil; isKnown != got.Settled || isKnown != (got.error == nil) || !isKnown && got.Error() != said.Text {
				t.Errorf("%+v is taken for %+v", said, got)
			}
		}
		go ask()
		last.hears(client.Ask)
		last.conn.Close()
		if got := <-answers; !errors.Is(got.error, errNoEditor) {
			t.Errorf("who is gone says %v", got.error)
		}
		first.conn.Close()
		h.door.Finish(loop.End{})
	})
}
