package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "feed")
	if err != nil {
		panic(err)
	}
	os.Setenv(paths.EnvState, dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// startFeed returns the feed of a running loop; the test must close it.
func startFeed(ed *clienttest.Editor) *fed {
	f := newFeed(ed, func(bool) {})
	f.begin(runningStatus)
	return f
}

func say(f *fed, text string) { f.Handle(stream.Text{Delta: text, MessageID: "m1"}) }

func TestFirstTextGoesOutAtOnceTheRestEvery50ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		begin, want := time.Now(), ""
		for i := range 100 {
			word := fmt.Sprintf("%d ", i)
			want += word
			say(f, word)
			time.Sleep(10 * time.Millisecond)
		}
		f.Close()
		synctest.Wait()

		params, at := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
		if !at[0].Equal(begin) {
			t.Errorf("the first came after %v", at[0].Sub(begin))
		}
		if got := clienttest.Shortest(clienttest.Gaps(at)); got < flushInterval {
			t.Errorf("two notifications within %v", got)
		}
		if got := len(params); got < 18 || got > 21 {
			t.Errorf("%d notifications in a second, want about 20", got)
		}
		for _, p := range params {
			if len(p.Updates) != 1 {
				t.Errorf("neighbouring text came as %d updates", len(p.Updates))
			}
		}
		if got := clienttest.AllText(t, ed.Updates(t)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestMuchTextDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		defer f.Close()
		say(f, "first")
		synctest.Wait()
		say(f, "a little, and then ")
		synctest.Wait()
		say(f, strings.Repeat("x", flushSize))
		synctest.Wait() // no time passes
		if got := len(ed.Updates(t)); got != 2 {
			t.Errorf("%d updates at once, want 2", got)
		}
	})
}

func TestClientsOwnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clienttest.Full
		client.MinUpdateInterval = 300 * time.Millisecond
		ed := &clienttest.Editor{Is: client}
		f := startFeed(ed)
		for range 100 {
			say(f, strings.Repeat("x", 1000))
			time.Sleep(10 * time.Millisecond)
		}
		f.Close()
		synctest.Wait()
		_, at := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
		for _, gap := range clienttest.Gaps(at[:len(at)-1]) { // the last comes with the end
			if gap != 0 && gap < client.MinUpdateInterval {
				t.Errorf("two bursts within %v", gap)
			}
		}
		if got := len(clienttest.AllText(t, ed.Updates(t))); got != 100_000 {
			t.Errorf("%d bytes of text, want 100000", got)
		}
	})
}

func TestSlowEditorGetsMergedUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error { time.Sleep(time.Second); return nil }}
		f := startFeed(ed)
		want := ""
		for i := range 1000 {
			word := fmt.Sprintf("%d ", i)
			want += word
			say(f, word)
			f.Handle(stream.Usage{Context: int64(i + 1)})
			time.Sleep(5 * time.Millisecond)
		}
		f.Close()
		<-f.done
		updates := ed.Updates(t)
		if len(updates) > 20 {
			t.Errorf("%d updates for an editor that reads one notification a second, want about three for each", len(updates))
		}
		if got := clienttest.AllText(t, updates); got != want {
			t.Errorf("text was lost or reordered: %.80q...", got)
		}
	})
}

// What waits together is merged; what a client has to tell apart stays apart.
func TestMerging(t *testing.T) {
	text := func(id, s string) stream.Event { return stream.Text{Delta: s, MessageID: id} }
	tests := []struct {
		name   string
		events []stream.Event
		want   []string // kind, id, status, text
	}{
		{"text of one message", []stream.Event{text("m1", "a"), text("m1", "b")}, []string{"agent_message_chunk m1  ab"}},
		{"text of two messages", []stream.Event{text("m1", "a"), text("m2", "b"), text("m1", "c")},
			[]string{"agent_message_chunk m1  a", "agent_message_chunk m2  b", "agent_message_chunk m1  c"}},
		{"a subagent's text", []stream.Event{text("m1", "a"), stream.Text{Delta: "b", MessageID: "m1", ParentToolCallID: "t1"}},
			[]string{"agent_message_chunk m1  a", "agent_message_chunk m1  b"}},
		{"thoughts and text", []stream.Event{stream.Thinking{Delta: "hm", MessageID: "m1"}, text("m1", "a")},
			[]string{"agent_thought_chunk m1  hm", "agent_message_chunk m1  a"}},
		{"a tool's output so far", []stream.Event{stream.ToolCall{ID: "t1", Name: "bash"}, stream.ToolProgress{ID: "t1", Output: "a"}, text("m1", "x"), stream.ToolProgress{ID: "t1", Output: "ab"}},
			[]string{"tool_call t1 in_progress ", "agent_message_chunk m1  x", "tool_call_update t1 in_progress ab"}},
		{"a result makes the output so far needless", []stream.Event{stream.ToolCall{ID: "t1", Name: "bash"}, stream.ToolProgress{ID: "t1", Output: "a"}, text("m1", "x"), stream.ToolResult{ID: "t1", Output: "abc"}},
			[]string{"tool_call t1 in_progress ", "agent_message_chunk m1  x", "tool_call_update t1 completed abc"}},
		{"tools that overlap", []stream.Event{stream.ToolProgress{ID: "t1", Output: "a"}, stream.ToolProgress{ID: "t2", Output: "b"}, stream.ToolResult{ID: "t1", IsError: true}, stream.ToolProgress{ID: "t2", Output: "bb"}},
			[]string{"tool_call_update t1 failed ", "tool_call_update t2 in_progress bb"}},
		{"usage", []stream.Event{stream.Usage{Context: 1}, text("m1", "a"), stream.Usage{Context: 2}, text("m1", "b")},
			[]string{"agent_message_chunk m1  ab", "usage_update   "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := clienttest.Full
				client.Thinking = true
				ed := &clienttest.Editor{Is: client}
				f := newFeed(ed, func(bool) {})
				for _, e := range tt.events {
					f.Handle(e)
				}
				f.begin(runningStatus) // all has waited until now
				synctest.Wait()
				f.Close()
				<-f.done
				var got []string
				for _, u := range ed.Updates(t) {
					got = append(got, fmt.Sprintf("%s %s %s %s", u.SessionUpdate, u.MessageID+u.ToolCallID, u.Status, u.Text(t)))
				}
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

func TestThoughtsAreForThoseWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		f.Handle(stream.Thinking{Delta: "hm"})
		say(f, "hi")
		f.Close()
		<-f.done
		updates := ed.Updates(t)
		if len(updates) != 1 || updates[0].SessionUpdate != wire.KindMessageChunk {
			t.Errorf("got %+v, want the text only", updates)
		}
	})
}

// Escapes double some texts, runes have several bytes: each size is kept all the same.
func TestSizes(t *testing.T) {
	const envelope = len(`Content-Length: 65536`+"\r\n\r\n") + len(`{"jsonrpc":"2.0","method":"ralph/update","params":}`)
	for name, text := range map[string]string{
		"letters": strings.Repeat("x", 200_000), "lines": strings.Repeat("\n", 200_000),
		"runes": "x" + strings.Repeat("ü€😀", 30_000), "quotes": strings.Repeat(`"\<&>`, 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ed := &clienttest.Editor{Is: clienttest.Full}
				f := startFeed(ed)
				say(f, text)
				for i := range 200 {
					id := fmt.Sprint("t", i)
					f.Handle(stream.ToolCall{ID: id, Name: "write", Input: json.RawMessage(`{"path":"a"}`)})
					f.Handle(stream.ToolResult{ID: id, Output: text[:wire.FirstText(text, 1000)]})
				}
				f.Handle(stream.ToolResult{ID: "long", Output: text})
				f.Close()
				<-f.done
				params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
				for _, p := range params {
					if size := len(string(lsptest.JSON(p))) + envelope; size > maxNotification {
						t.Errorf("a notification of %d bytes", size)
					}
				}
				updates := ed.Updates(t)
				for _, u := range updates {
					if got := u.Text(t); len(got) > 32<<10 || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
						t.Errorf("%s: %d bytes, valid: %v", u.SessionUpdate, len(got), utf8.ValidString(got))
					}
				}
				if clienttest.AllText(t, updates) != text {
					t.Error("the text isn't what the agent said")
				}
				last := updates[len(updates)-1]
				if last.Omitted == nil {
					t.Fatalf("nothing is left out of a long output")
				}
				begins, ends, _ := strings.Cut(last.Text(t), format.LeftOut(last.Omitted.Lines, last.Omitted.Bytes)+"\n")
				if begins = strings.TrimSuffix(begins, "\n"); ends == "" || !strings.HasPrefix(text, begins) || !strings.HasSuffix(text, ends) || len(last.Text(t)) < wire.MaxText-100 ||
					len(text)-len(begins)-len(ends)-last.Omitted.Bytes > 1 {
					t.Errorf("of a long output %d bytes came without %+v, want its beginning and its end", len(last.Text(t)), last.Omitted)
				}
			})
		})
	}
}

func TestLongInputIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		input := fmt.Sprintf(`{"path":"a.go","content":%q}`, strings.Repeat("x", wire.MaxText))
		f.Handle(stream.ToolCall{ID: "t1", Name: "write", Input: json.RawMessage(input)})
		f.Handle(stream.ToolCall{ID: "t2", Name: "write", Input: json.RawMessage(`{no JSON`)})
		f.Close()
		<-f.done
		updates := ed.Updates(t)
		if len(updates) != 2 {
			t.Fatalf("got %d tool calls, want 2", len(updates))
		}
		for _, u := range updates {
			if !u.Truncated || u.RawInput != nil || u.SessionUpdate != wire.KindToolCall {
				t.Errorf("got %+v, want a tool call without its input", u)
			}
		}
	})
}

func TestLongWordsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("€", wire.MaxText)
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		f.HandleLoop(loop.Published{Topic: "x", Payload: long})
		f.HandleLoop(loop.NearMiss{Found: long})
		f.Handle(stream.ToolCall{ID: "t", Name: "read", Input: json.RawMessage(`{"path":"` + long + `"}`)})
		f.Close()
		<-f.done
		params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
		n := 0
		for _, p := range params {
			for _, u := range p.Updates {
				n++
				if json := string(u); len(json) > MaxUpdates || !strings.HasSuffix(json, `,"truncated":true}`) || strings.Contains(json, "\uFFFD") {
					t.Errorf("an update has %d bytes and ends in %s", len(json), json[len(json)-40:])
				}
			}
		}
		if n != 3 {
			t.Errorf("%d updates", n)
		}
	})
}

func TestNotificationsDoNotMixIterations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := newFeed(ed, func(bool) {})
		for i := 1; i <= 3; i++ {
			f.HandleLoop(loop.IterationStart{Iteration: i})
			say(f, fmt.Sprint("text of ", i))
			f.HandleLoop(loop.IterationEnd{Iteration: i, Outcome: loop.OutcomeOK})
		}
		f.begin(runningStatus)
		f.Close()
		<-f.done
		params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
		if len(params) != 3 {
			t.Fatalf("%d notifications, want one for each iteration", len(params))
		}
		for i, p := range params {
			if p.Iteration != i+1 || p.LoopID != "l1" {
				t.Errorf("notification %d: loop %s, iteration %d", i+1, p.LoopID, p.Iteration)
			}
			if got := clienttest.AllText(t, clienttest.DecodeUpdates(t, p.Updates)); got != fmt.Sprint("text of ", i+1) {
				t.Errorf("iteration %d says %q", i+1, got)
			}
		}
	})
}

// A hidden panel switches the stream down; what it missed is in the log, and the
// cursors tell it so.
func TestLevelsLeaveHolesThatTheLogFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full}
		f := startFeed(ed)
		step := func(level string) {
			f.SetLevel(level)
			say(f, "text at "+level)
			synctest.Wait()
			f.Handle(stream.ToolCall{ID: level, Name: "bash"})
			time.Sleep(time.Second)
		}
		for _, level := range []string{wire.LevelAll, wire.LevelTools, wire.LevelNone, wire.LevelAll} {
			step(level)
		}
		f.Close()
		<-f.done
		params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
		var got []string
		var hidden string
		last := params[0].After
		for i, p := range params {
			for _, u := range clienttest.DecodeUpdates(t, p.Updates) {
				got = append(got, fmt.Sprintf("%d %s", i, u.SessionUpdate))
			}
			if joins := p.After == last; joins != (i != 3) {
				t.Errorf("notification %d follows %q with %q", i, last, p.After)
			}
			if last = p.Cursor; i == 1 {
				hidden = p.Cursor
			}
		}
		want := "[0 agent_message_chunk 1 tool_call 2 tool_call 3 agent_message_chunk 4 tool_call]"
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		missed, err := f.log.Read(t.Context(), hidden, journal.Options{Limit: 4})
		updates := clienttest.DecodeUpdates(t, missed.Updates(false))
		if err != nil || !missed.More || clienttest.AllText(t, updates) != "text at tools"+"text at none" || len(updates) != 4 {
			t.Errorf("the log has %+v, %v", updates, err)
		}
	})
}

func TestPlainClientGetsNoUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: client.Info{Updates: true, WorkDoneProgress: true}}
		f := startFeed(ed)
		f.SetLevel(wire.LevelAll)
		say(f, "hi")
		f.HandleLoop(loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 1})
		f.Close()
		<-f.done
		if got := ed.Updates(t); len(got) > 0 {
			t.Errorf("got %+v", got)
		}
		if page, err := f.log.Read(t.Context(), "", journal.Options{}); len(page.Items) != 2 || !page.Complete {
			t.Errorf("the log has %d updates, want 2 (%v)", len(page.Items), err)
		}
	})
}

func TestCloseWaitsForNoEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unstuck := make(chan struct{})
		ed := &clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error { <-unstuck; return nil }}
		f := startFeed(ed)
		say(f, "a")
		synctest.Wait()
		say(f, "b")
		f.HandleLoop(loop.End{Reason: loop.StopCancelled})
		f.Close() // a deadlock, if it waited
		close(unstuck)
		<-f.done
		updates := ed.Updates(t)
		if n := len(updates); n != 3 || updates[n-1].SessionUpdate != wire.KindEnd {
			t.Errorf("got %+v, want the text and the end", updates)
		}
	})
}

func TestFeedEndsWithItsEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error { return clienttest.ErrGone }}
		f := startFeed(ed)
		say(f, "a")
		<-f.done
		for range 1000 {
			say(f, strings.Repeat("x", wire.MaxText)) // nobody takes it, and nothing breaks
		}
		f.Close()
	})
}

func TestFeedOfALoopThatNeverStarted(t *testing.T) {
	f := newFeed(&clienttest.Editor{Is: clienttest.Full}, func(bool) {})
	f.HandleLoop(loop.Warning{Message: "no"})
	f.Close()
}

func TestStatusIsToldOfWhatItShows(t *testing.T) {
	tests := []struct {
		name string
		do   func(f *fed)
		want string // each call's now
	}{
		{"text", func(f *fed) { say(f, "a") }, "[false]"},
		{"tool call", func(f *fed) { f.Handle(stream.ToolCall{ID: "t"}) }, "[false]"},
		{"usage", func(f *fed) { f.Handle(stream.Usage{Context: 1}) }, "[false]"},
		{"usage that repeats itself", func(f *fed) { f.Handle(stream.Usage{}) }, "[false]"},
		{"state", func(f *fed) { f.HandleLoop(loop.StateChanged{State: loop.StatePaused}) }, "[true]"},
		{"guidance", func(f *fed) { f.HandleLoop(loop.SteeringMessage{ID: "g"}) }, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := []bool{}
			f := newFeed(&clienttest.Editor{Is: clienttest.Full}, func(now bool) { calls = append(calls, now) })
			tt.do(f)
			f.Close()
			if got := fmt.Sprint(calls); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		})
	}
}
