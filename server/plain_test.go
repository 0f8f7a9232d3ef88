package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What an agent or a stranger's file says reaches editors' status bars,
// messages and buffers: it is plain before it leaves.
func FuzzTheWireIsPlain(f *testing.F) {
	f.Add("a\x1b[2Jb\u202ec\u009b31m\u2066d\u200b\U000e0041\x7f\u2028\r")
	events := []any{ // loop.Asked and loop.Answered are plain from where they are made, in loop/ask
		stream.SessionStart{}, stream.Text{}, stream.Thinking{}, stream.ToolCall{ID: "t"}, stream.ToolProgress{ID: "t"}, stream.ToolResult{ID: "t"},
		stream.Retry{}, stream.Compaction{}, stream.Error{},
		loop.StateChanged{}, loop.Goal{}, loop.IterationStart{}, loop.IterationEnd{}, loop.SteeringMessage{}, loop.Told{}, loop.Published{}, loop.NearMiss{}, loop.Verify{Gate: verify.CommandGate, State: verify.Refuted, Problems: []verify.Problem{{}}}, loop.Warning{}, loop.LimitsChanged{}, loop.End{Denials: []stream.Denial{{}}},
	}
	f.Fuzz(func(t *testing.T, s string) {
		var p wire.Projector
		for _, e := range events {
			v := reflect.New(reflect.TypeOf(e)).Elem()
			v.Set(reflect.ValueOf(e))
			fill(v, s)
			switch e := v.Interface().(type) {
			case stream.Event:
				checkPlain(t, p.Event(e))
			case loop.Event:
				checkPlain(t, p.Loop(e))
				if end, ok := e.(loop.End); ok {
					end.Reason = loop.StopPromise
					checkPlain(t, wire.EndText(end))
				}
			}
		}
		var status loop.Status
		fill(reflect.ValueOf(&status).Elem(), s)
		status.Tool = &loop.ToolStatus{Call: stream.ToolCall{ID: "t", Name: s}}
		checkPlain(t, wire.StatusOf(status, true))
		checkPlain(t, feed.ReportOf(status, &s))
	})
}

// fill puts s into all texts of a struct but ids, paths and closed words.
func fill(v reflect.Value, s string) {
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case field.Type() == reflect.TypeFor[string]() && !strings.HasSuffix(name, "ID") && !strings.HasSuffix(name, "File") && name != "Folder":
			field.SetString(s)
		case field.Kind() == reflect.Struct && field.CanSet() && field.Type().PkgPath() != "time":
			fill(field, s)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for j := range field.Len() {
				fill(field.Index(j), s)
			}
		}
	}
}

func checkPlain(t *testing.T, message any) {
	t.Helper()
	data, err := json.Marshal(message)
	must.OK(t, err)
	var v any
	must.OK(t, json.Unmarshal(data, &v))
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case string:
			if stream.Sanitize(v) != v {
				t.Errorf("%T%s says %q", message, path, v)
			}
		case map[string]any:
			for key, value := range v {
				walk(path+"."+key, value)
			}
		case []any:
			for i, value := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), value)
			}
		}
	}
	walk("", v)
}
