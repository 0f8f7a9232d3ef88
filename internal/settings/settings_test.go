package settings

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

// Each field has its row in the table, and each row all that is needed.
func TestTheTableHasEachSetting(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range table {
		for _, text := range []string{s.Key, s.Wire, s.Doc, s.Kind()} {
			if text == "" {
				t.Errorf("%s lacks a name or a text: %+v", s.Key, s)
			}
		}
		var said Said
		for _, value := range append(append([]string{}, s.Values...), s.Samples...) {
			if err := s.Set(&said, value); err != nil || s.Text(said) != value {
				t.Errorf("%s: %s is %s, %v", s.Key, value, s.Text(said), err)
			}
		}
		if s.Values == nil && s.Samples == nil {
			if err := s.Set(&said, s.Default); err != nil {
				t.Errorf("%s: the default: %v", s.Key, err)
			}
		}
		fields := map[string]json.RawMessage{}
		data, _ := json.Marshal(said)
		if json.Unmarshal(data, &fields); len(fields) != 1 || fields[s.Wire] == nil {
			t.Errorf("%s is %s as JSON, want %s", s.Key, data, s.Wire)
		}
		seen[s.Wire] = true
	}
	if n := reflect.TypeFor[Said]().NumField(); n != len(seen) {
		t.Errorf("%d fields have %d rows", n, len(seen))
	}
}

func TestTheFirstOneSaidCounts(t *testing.T) {
	start := Said{Live: On, AskTimeout: new(Span(time.Minute))}
	got := start.Or(Said{Live: Off, Sandbox: Off, AskTimeout: new(Span(0))}).Or(Said{Sandbox: SandboxWorkspace, Instruct: new(true)})
	if got.Live != On || got.Sandbox != Off || *got.AskTimeout != Span(time.Minute) || !*got.Instruct || got.Permissions != "" {
		t.Errorf("%+v", got)
	}
}

func TestWhatCanNotBeIsRefusedByItsName(t *testing.T) {
	for want, said := range map[string]Said{
		"": {Live: Auto, Permissions: PermissionsAgent, AskTimeout: new(Span(0))},
		`sandbox is "none"; write one of off, workspace`: {Sandbox: "none"},
		`live is "yes"; write one of auto, on, off`:      {Live: "yes"},
	} {
		if err := said.Check(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%+v: %v", said, err)
		}
	}
	for want, said := range map[string]Said{
		"": {Permissions: PermissionsAsk},
		`permissions is "agent"; write one of ask`:    {Permissions: PermissionsAgent},
		"sandbox is for a start, not for all of them": {Sandbox: Off},
	} {
		if err := said.CheckEditor(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("the editor's %+v: %v", said, err)
		}
	}
	for _, text := range []string{"-1", "1.5", "9223372036854775807", `"10m"`} {
		if err := json.Unmarshal([]byte(`{"askTimeoutMs":`+text+`}`), new(Said)); !errors.As(err, new(*json.UnmarshalTypeError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
