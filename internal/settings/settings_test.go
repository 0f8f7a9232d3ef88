package settings

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// Each field has its row in the table, and each row all that is needed.
func TestTheTableHasEachSetting(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range all {
		for _, text := range []string{s.Key, s.Wire, s.Doc, s.Kind(), s.Wanted()} {
			if text == "" {
				t.Errorf("%s lacks a name or a text: %+v", s.Key, s)
			}
		}
		if (s.Stored.Key == "") == (s.Stored.Not == "") || !s.Bounds && (s.Stored.Key == "") != (s.Stored.Doc == "") {
			t.Errorf("%s doesn't say whether a loop that goes on has it: %+v", s.Key, s.Stored)
		}
		if s.Yields == ToStricter && !s.Bounds && s.Default != s.Values[0] {
			t.Errorf("%s is stricter by default than it can be said to be", s.Key)
		}
		if with, ok := ByKey(s.Stored.With); (s.Stored.With != "") != ok || ok && with.Stored.Key == "" {
			t.Errorf("%s goes with %q, which isn't kept", s.Key, s.Stored.With)
		}
		if twin, _ := ByStored(s.Stored.Key); twin.Key != s.Key && s.Stored.Key != "" {
			t.Errorf("%s and %s are kept by the same key", s.Key, twin.Key)
		}
		var said Values
		for _, value := range append(append([]string{}, s.Values...), s.Samples...) {
			if err := s.Set(&said, value); err != nil || s.Text(said) != value && !s.Bounds {
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
			t.Errorf("%s is %s as JSON, want %s; a text without Values and Default needs Samples", s.Key, data, s.Wire)
		}
		seen[s.Wire] = true
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Values]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !field.Anonymous && !seen[name] {
			t.Errorf("%s has no row", field.Name)
		}
	}
}

func TestTheFirstOneSaidCounts(t *testing.T) {
	start := Values{Live: On, AskTimeout: new(limits.Duration(time.Minute))}
	got := start.Or(Values{Live: Off, Sandbox: Off, AskTimeout: new(limits.Duration(0))}).Or(Values{Sandbox: SandboxWorkspace, Instruct: new(true)})
	if got.Live != On || got.Sandbox != Off || *got.AskTimeout != limits.Duration(time.Minute) || !*got.Instruct || got.Permissions != "" {
		t.Errorf("%+v", got)
	}
}

// A state file may have been written by anybody: it can ask for more, and not for less.
func TestAStateFileOnlyTightens(t *testing.T) {
	minute := new(limits.Duration(time.Minute))
	for _, tt := range []struct{ file, users, want Values }{
		{Values{Sandbox: SandboxWorkspace}, Values{}, Values{Sandbox: SandboxWorkspace}},
		{Values{Sandbox: SandboxWorkspace}, Values{Sandbox: Off}, Values{Sandbox: SandboxWorkspace}},
		{Values{Sandbox: SandboxWorkspace}, Values{Sandbox: SandboxWorkspace}, Values{}},
		{Values{Sandbox: Off, Permissions: PermissionsAgent}, Values{Sandbox: SandboxWorkspace, Permissions: PermissionsAsk}, Values{}},
		{Values{AskTimeout: minute}, Values{}, Values{}},
		{Values{Permissions: PermissionsAsk, AskTimeout: minute}, Values{Permissions: PermissionsAsk}, Values{AskTimeout: minute}},
		{Values{Permissions: PermissionsAsk, AskTimeout: new(limits.Duration(0))}, Values{}, Values{Permissions: PermissionsAsk}},
		{Values{Instruct: new(true), Live: On, OnClose: OnCloseKeep}, Values{Instruct: new(false)}, Values{}},
		{Values{Instruct: new(false)}, Values{Instruct: new(true)}, Values{Instruct: new(false)}},
	} {
		if got := tt.file.Tightening(tt.users); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v over %+v: %+v", tt.file, tt.users, got)
		}
	}
	all := Values{Live: On, Permissions: PermissionsAsk, AskTimeout: minute, Sandbox: SandboxWorkspace, OnClose: OnCloseKeep, Instruct: new(false)}
	if got, want := all.Stored(), (Values{Permissions: PermissionsAsk, AskTimeout: minute, Sandbox: SandboxWorkspace, Instruct: all.Instruct}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is kept", got)
	}
}

func TestWhatIsSaidHasItsFlags(t *testing.T) {
	said := Values{Live: Off, Sandbox: SandboxWorkspace, AskTimeout: new(limits.Duration(time.Minute)), Instruct: new(true)}
	if got := strings.Join(said.Flags(" "), " "); got != "--no-live --ask-timeout 1m --sandbox workspace" {
		t.Error(got)
	}
}

func TestWhatCanNotBeIsRefusedByItsName(t *testing.T) {
	for want, said := range map[string]Values{
		"": {Live: Auto, Permissions: PermissionsAgent, AskTimeout: new(limits.Duration(0))},
		`sandbox is "none"; write one of off, workspace`:                             {Sandbox: "none"},
		`live is "yes"; write one of auto, on, off`:                                  {Live: "yes"},
		`sandbox is "workspac"; did you mean workspace? write one of off, workspace`: {Sandbox: "workspac"},
		"maxIterations is -1; write a whole number, 0 or more":                       {Given: limits.Given{MaxIterations: new(-1)}},
	} {
		if err := said.Check(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%+v: %v", said, err)
		}
	}
	for want, said := range map[string]Values{
		"": {Permissions: PermissionsAsk, Given: limits.Given{MaxIterations: new(0), Promise: new("DONE")}},
		"maxConsecutiveFailures is -1; write a whole number, 0 or more": {Given: limits.Given{MaxFailures: new(-1)}},
		`permissions is "agent"; write one of ask`:                      {Permissions: PermissionsAgent},
		"sandbox is for a start, not for all of them":                   {Sandbox: Off},
	} {
		if err := said.CheckEditor(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("the editor's %+v: %v", said, err)
		}
	}
}

// A row says what it takes: to a start's argument, and as files have it.
func TestARowSaysWhatItTakes(t *testing.T) {
	for key, want := range map[string][3]string{
		"live":                  {"one of auto, on, off", "auto", `"auto"`},
		"task":                  {"a text", "1", `"1"`},
		"completion.instruct":   {"true or false", "true", "true"},
		"ask_timeout":           {"milliseconds, as in 600000 for 10m", "10m", `"10m"`},
		"limits.max_duration":   {"milliseconds, as in 14400000 for 4h", "4h", `"4h"`},
		"limits.max_cost_usd":   {"an amount in US dollars such as 5.00", "2.5", "2.5"},
		"limits.max_iterations": {"a whole number, 0 or more", "50", "50"},
		"completion.promise":    {"a text", "", ""},
	} {
		s, ok := ByKey(key)
		if wanted, literal := s.Wanted(), s.Literal(want[1]); !ok || wanted != want[0] || literal != want[2] {
			t.Errorf("%s: %s, %s", key, wanted, literal)
		}
	}
}

// What isn't said is as built in.
func TestALooserSetting(t *testing.T) {
	given := func(n int) Values { return Values{Given: limits.Given{MaxIterations: &n}} }
	for _, tt := range []struct {
		key  string
		a, b Values
		want bool
	}{
		{"sandbox.mode", Values{}, Values{Sandbox: SandboxWorkspace}, true},
		{"sandbox.mode", Values{Sandbox: SandboxWorkspace}, Values{}, false},
		{"sandbox.mode", Values{Sandbox: Off}, Values{}, false},
		{"limits.max_iterations", given(51), Values{}, true},
		{"limits.max_iterations", Values{}, given(49), true},
		{"limits.max_iterations", given(0), given(99), true},
		{"limits.max_iterations", given(50), Values{}, false},
	} {
		if s, _ := ByKey(tt.key); s.IsLooser(tt.a, tt.b) != tt.want {
			t.Errorf("%s: %+v and %+v", tt.key, tt.a, tt.b)
		}
	}
}
