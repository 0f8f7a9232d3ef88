package decode

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

func TestEarlierPromise(t *testing.T) {
	_, result := decodeLines(t, FormatPi,
		piLine("message_end", "stop", "", "<promise> all\ndone </promise>"), piLine("turn_end", "toolUse", "", ""),
		piLine("message_end", "toolUse", ""), // only a tool call: not the last message
		piLine("message_end", "stop", "", `<event topic="t"><promise>no</promise></event> still at it`), piSettled)
	if result.EarlierPromise != "all done" || !strings.HasSuffix(result.Text, "still at it") {
		t.Errorf("result %+v", result)
	}
}

// All messages of the agent itself publish, in their order, and what comes again counts once.
func TestTopicsOfAllMessages(t *testing.T) {
	a, b := `<event topic="a">1</event>`, `<event topic="b">2</event>`
	sub := claudeSays("s", claudeTextBlock(`<event topic="sub">x</event>`), "t1", "")
	_, r := decodeLines(t, FormatClaude, sub, claudeText("m1", a), claudeText("m2", b+"\n"+a+"\n```\n"+b+"\n```\n"), claudeText("m3", "Bye."), claudeGood)
	if want := []stream.Topic{{Topic: "a", Payload: "1"}, {Topic: "b", Payload: "2"}}; !reflect.DeepEqual(r.Topics, want) {
		t.Errorf("%+v", r.Topics)
	}
	if len(r.TopicMisses) != 1 || r.TopicMisses[0].Kind != promises.NearCode {
		t.Errorf("%+v", r.TopicMisses)
	}
}
