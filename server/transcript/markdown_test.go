package transcript

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func said(text, id string) wire.Update {
	return wire.Chunk{SessionUpdate: wire.KindMessageChunk, MessageID: id, Content: wire.TextContent{Type: "text", Text: text}}
}

func prompt(text string) wire.Update {
	return wire.UserChunk{SessionUpdate: wire.KindUserChunk, Content: wire.TextContent{Text: text}}
}

func begins(n int) wire.Update {
	return wire.Decode(fmt.Appendf(nil, `{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":%d,"text":"iteration %[1]d of 50"}`, n))
}

func ends(n int) wire.Update {
	return wire.Decode(fmt.Appendf(nil, `{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":%d,"text":"ok · 2m05s"}`, n))
}

func calls(id, below string) wire.Update {
	return wire.ToolCall{ToolCallID: id, ParentToolCallID: below, Name: "bash", Title: "go `" + id + "`"}
}

func gives(id, output, status string) wire.Update {
	return wire.ToolCallUpdate{ToolCallID: id, Status: status, Content: []wire.ToolContent{{Content: wire.TextContent{Text: output}}}}
}

func warns(text string) wire.Update {
	return wire.Warning{Notice: wire.Notice{Text: text, Class: wire.ClassWarning}}
}

func TestTranscripts(t *testing.T) {
	const bash = "**bash** `` go `t1` ``\n\n"
	user := prompt("Mind\nthe tests")
	thought := wire.Chunk{SessionUpdate: wire.KindThoughtChunk, MessageID: "m1", Content: wire.TextContent{Text: "hmm"}}
	sub := wire.Chunk{SessionUpdate: wire.KindMessageChunk, ParentToolCallID: "t1", Content: wire.TextContent{Text: "sub"}}
	lost := wire.Discard{MessageID: "m1"}
	long := strings.Repeat("word ", 8000) + "\n\n" + strings.Repeat("more ", 1000)
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	for name, tt := range map[string]struct {
		told []wire.Update
		want string
	}{
		"an iteration":                         {[]wire.Update{begins(3), said("Look", "m1"), said("ing.", "m1"), calls("t1", ""), gives("t1", "a\nb\n", "completed")}, "## Iteration 3 of 50\n\nLooking.\n\n" + bash + "```text\na\nb\n```\n\n"},
		"what came of it stands below":         {[]wire.Update{begins(3), said("x", "m1"), ends(3)}, "## Iteration 3 of 50\n\n*ok · 2m05s*\n\nx\n\n"},
		"one that was cut off has no end":      {[]wire.Update{begins(3), begins(3), said("x", "m1"), ends(3)}, "## Iteration 3 of 50\n\n## Iteration 3 of 50\n\n*ok · 2m05s*\n\nx\n\n"},
		"the user is quoted":                   {[]wire.Update{user}, "> Mind\n> the tests\n\n"},
		"a long prompt is one quote":           {[]wire.Update{prompt(long), prompt("x")}, "> " + strings.ReplaceAll(long, "\n", "\n> ") + "x\n\n"},
		"a fence in an output ends no block":   {[]wire.Update{calls("t1", ""), gives("t1", "```\nx\n```", "completed")}, bash + "````text\n```\nx\n```\n````\n\n"},
		"a long output":                        {[]wire.Update{calls("t1", ""), gives("t1", strings.Join(lines, "\n"), "failed")}, bash + "✗ failed\n\n```text\n" + strings.Join(lines[:10], "\n") + "\n... 80 lines ...\n" + strings.Join(lines[90:], "\n") + "\n```\n\n"},
		"an output so far is replaced":         {[]wire.Update{calls("t1", ""), gives("t1", "a", "in_progress"), gives("t1", "a\nb", "completed")}, bash + "```text\na\nb\n```\n\n"},
		"an output whose call isn't here":      {[]wire.Update{gives("t1", "late", "completed")}, "```text\nlate\n```\n\n"},
		"the ids of calls begin again":         {[]wire.Update{calls("t1", ""), begins(4), gives("t1", "late", "completed")}, bash + "## Iteration 4 of 50\n\n```text\nlate\n```\n\n"},
		"a subagent's calls are below its own": {[]wire.Update{calls("t1", ""), calls("t2", ""), calls("t3", "t1"), sub, calls("t4", "t1")}, bash + "> **bash** `` go `t3` ``\n\n> **bash** `` go `t4` ``\n\n**bash** `` go `t2` ``\n\n"},
		"an attempt that failed is taken back": {[]wire.Update{said("keep", "m0"), said("lost", "m1"), lost, said("again", "m2")}, "keep\n\nagain\n\n"},
		"but none of another iteration":        {[]wire.Update{begins(3), said("first", "m1"), begins(4), said("second", "m1"), lost, said("third", "m2")}, "## Iteration 3 of 50\n\nfirst\n\n## Iteration 4 of 50\n\nthird\n\n"},
		"thoughts are marked":                  {[]wire.Update{thought, said("x", "m1")}, "*Thinking:* hmm\n\nx\n\n"},
		"a long message is one":                {[]wire.Update{said(long[:30_000], "m1"), said(long[30_000:], "m1")}, long + "\n\n"},
		"tags are code":                        {[]wire.Update{warns("not done yet: <promise>X</promise>")}, "> ⚠ not done yet: `<promise>X</promise>`\n\n"},
		"what has no words":                    {[]wire.Update{wire.UsageUpdate{}, wire.StateChange{}, nil}, ""},
		"the end, with its receipt":            {[]wire.Update{wire.End{Notice: wire.Info("done: DONE"), Receipt: []wire.Detail{{Label: "Asked", Text: "Mend *it*"}, {Text: "Be quick"}}}}, "---\n\n**done: DONE**\n\n```\nAsked       Mend *it*\n            Be quick\n```\n\n"},
		"nothing steers an editor":             {[]wire.Update{said("a\x1b[2Jb\u202e", "m1")}, "ab\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var m Markdown
			for _, u := range tt.told {
				m.Add(u)
			}
			if got := m.String(); got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// A document has the end of a story that is too long, and so much only is remembered.
func TestALongTranscriptHasItsEnd(t *testing.T) {
	var m Markdown
	for i := range 1000 {
		m.Add(said(fmt.Sprintf("message %d ", i)+strings.Repeat("x", 10_000), fmt.Sprint(i)))
	}
	m.Add(wire.Discard{MessageID: "999"})
	text := m.String()
	if len(text) > maxText+20_000 || !strings.HasPrefix(text, "*... the beginning is not kept ...*\n\nmessage ") {
		t.Errorf("%d bytes, which begin with %q", len(text), text[:60])
	}
	if !strings.Contains(text, "message 998 ") || strings.Contains(text, "message 999 ") {
		t.Error("it hasn't the end")
	}
	if len(m.rows) > 2*maxText/10_000+2 {
		t.Errorf("%d rows are remembered", len(m.rows))
	}
	m = Markdown{}
	m.Add(said("first", "m1"))
	m.Add(prompt(strings.Repeat("x", 3*maxText)))
	if text := m.String(); !strings.HasPrefix(text, "*... the beginning is not kept ...*") {
		t.Errorf("one that has only the end of it begins with %q", text[:60])
	}
}

// What isn't in a transcript any more takes no room from what comes later.
func TestWhatIsGoneTakesNoRoom(t *testing.T) {
	message := func(i int) wire.Update {
		return said(fmt.Sprintf("message %d ", i)+strings.Repeat("x", 3000), fmt.Sprint(i))
	}
	for name, before := range map[string]func(add func(...wire.Update)){
		"messages that were taken back": func(add func(...wire.Update)) {
			for i := range 200 {
				add(message(i), wire.Discard{MessageID: fmt.Sprint(i)})
			}
		},
		"calls that are too long ago": func(add func(...wire.Update)) {
			for i := range 200 {
				add(calls(fmt.Sprint("t", i), ""))
			}
			for i := range 200 {
				add(message(i))
			}
			for i := range 200 {
				add(gives(fmt.Sprint("t", i), strings.Repeat("x", 3000), "completed"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m Markdown
			add := func(all ...wire.Update) {
				for _, u := range all {
					m.Add(u)
				}
			}
			before(add)
			for i := range 5 {
				add(message(1000 + i))
			}
			if n := strings.Count(m.String(), "message 100"); n != 5 {
				t.Errorf("%d of the last 5 messages are shown", n)
			}
		})
	}
}

// Each kind of update with words is in the transcript.
func TestAllThatIsToldIsInTheTranscript(t *testing.T) {
	files, err := filepath.Glob("../../testdata/wire/update-*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data := must.Read(t, file)
		var m Markdown
		u := wire.Decode(data)
		if end, isEnd := u.(wire.IterationEnd); isEnd {
			m.Add(begins(end.Iteration))
		}
		m.Add(u)
		words := wire.NoticeIn(u).Text
		if _, isDiscard := u.(wire.Discard); isDiscard {
			words = "" // the text is taken out, and there is nothing to tell
		}
		if got := strings.ReplaceAll(m.String(), "`", ""); !strings.Contains(strings.ToLower(got), strings.ToLower(words)) {
			t.Errorf("%s: %q isn't in %q", filepath.Base(file), words, got)
		}
	}
}
