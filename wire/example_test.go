package wire

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// within tells whether small is a part of whole: an object may lack keys, a list elements.
func within(small, whole any) bool {
	switch small := small.(type) {
	case map[string]any:
		whole, ok := whole.(map[string]any)
		for key, value := range small {
			ok = ok && within(value, whole[key])
		}
		return ok
	case []any:
		whole, ok := whole.([]any)
		for _, value := range small {
			ok = ok && slices.ContainsFunc(whole, func(w any) bool { return within(value, w) })
		}
		return ok
	}
	return reflect.DeepEqual(small, whole)
}

// somewhere tells whether small is a part of whole, or of something in it.
func somewhere(small, whole any) bool {
	found := within(small, whole)
	switch whole := whole.(type) {
	case map[string]any:
		for _, value := range whole {
			found = found || somewhere(small, value)
		}
	case []any:
		found = found || slices.ContainsFunc(whole, func(w any) bool { return somewhere(small, w) })
	}
	return found
}

// message is what of a line of the example is ours: an update or an argument is, what it travels in is LSP's.
func message(params map[string]any) any {
	for _, key := range []string{"arguments", "updates"} {
		if inner, ok := params[key].([]any); ok {
			return inner[0]
		}
	}
	return params
}

// The example that authors of clients copy has only what is in the files of examples.
func TestTheExampleIsOfRealMessages(t *testing.T) {
	doc := must.Read(t, "../docs/PROTOCOL.md")
	files, err := filepath.Glob("../testdata/wire/*.json")
	must.OK(t, err)
	var real []any
	for _, name := range files {
		text := must.Read(t, name)
		var file any
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(name, err)
		}
		real = append(real, file)
	}
	lines := regexp.MustCompile(`(?m)^(?:->|<-) (\{.*)$`).FindAllSubmatch(doc, -1)
	if len(lines) < 10 {
		t.Errorf("the example has %d messages", len(lines))
	}
	for _, line := range lines[2:] { // after the two of initialize, which is LSP's
		var m struct{ Params, Result map[string]any }
		if err := json.Unmarshal(line[1], &m); err != nil {
			t.Errorf("%v: %s", err, line[1])
			continue
		}
		said := message(m.Params)
		if m.Params == nil {
			said = m.Result
		}
		if !slices.ContainsFunc(real, func(r any) bool { return somewhere(said, r) }) {
			t.Errorf("no file in testdata/wire has %v", said)
		}
	}
}
