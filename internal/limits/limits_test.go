package limits

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Each field has its row in the table, and each row all that is needed.
func TestTheTableHasEachLimit(t *testing.T) {
	of := map[string]string{}
	for i, limit := range table {
		for _, text := range []string{string(limit.Name), limit.Key, limit.Wire, limit.Flag, string(limit.Unit), limit.Usage, limit.Doc, limit.Zero} {
			if text == "" {
				t.Errorf("row %d lacks a name or a text: %+v", i, limit)
			}
		}
		l := Limits{}
		var g Given
		if err := errors.Join(limit.Set(&g, "0"), limit.Set(&g, limit.Samples[0])); err != nil {
			t.Errorf("%s: %v", limit.Key, err)
		}
		l = g.Over(l)
		for i := range reflect.TypeFor[Limits]().NumField() {
			name := reflect.TypeFor[Limits]().Field(i).Name
			if inLimits, inGiven := !reflect.ValueOf(l).Field(i).IsZero(), !reflect.ValueOf(g).FieldByName(name).IsNil(); inLimits != inGiven {
				t.Errorf("%s is in another place in Limits than in Given", limit.Key)
			} else if inLimits {
				of[name] = limit.Key
			}
		}
	}
	for i := range reflect.TypeFor[Limits]().NumField() {
		if name := reflect.TypeFor[Limits]().Field(i).Name; of[name] == "" {
			t.Errorf("%s isn't in the table", name)
		}
	}
}

func TestWhatIsGivenWins(t *testing.T) {
	g := Given{MaxIterations: new(3), MaxCostUSD: new(0.0)}.Or(Given{MaxIterations: new(9), IdleTimeout: new(Duration(time.Minute))})
	got := g.Over(Limits{MaxIterations: 1, MaxCostUSD: 5, MaxFailures: 2})
	if want := (Limits{MaxIterations: 3, IdleTimeout: time.Minute, MaxFailures: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if all := got.All().Over(Default()); all != got {
		t.Errorf("all of %+v are %+v", got, all)
	}
	copied := g.Clone()
	*copied.MaxIterations = 7
	if *g.MaxIterations != 3 {
		t.Error("a copy shares memory")
	}
}

func TestBadValuesAreToldWithWhatIsGood(t *testing.T) {
	for _, tt := range []struct{ key, value, want string }{
		{"max_iterations", "ten", `is "ten"; write a whole number, 0 or more`},
		{"max_iterations", "-3", `is "-3"; write a whole number, 0 or more`},
		{"max_iterations", "99999999999999999999", `is "99999999999999999999"; write a smaller number`},
		{"max_cost_usd", "inf", `is "inf"; write an amount in US dollars such as 5.00`},
		{"max_cost_usd", "-1", `is "-1"; write an amount in US dollars such as 5.00`},
		{"max_duration", "10", `is "10"; write it with its unit: 10s, 10m or 10h`},
		{"idle_timeout", "soon", `is "soon"; write a duration such as "90m" or "4h"`},
		{"idle_timeout", "-5m", `is "-5m"; write a duration such as "90m" or "4h"`},
		{"max_cost_usd", "$2.5", ""},
		{"max_duration", "0", ""},
	} {
		limit, _ := ByKey(tt.key)
		var g Given
		err := limit.Set(&g, tt.value)
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s = %s: %v, want %s", tt.key, tt.value, err, tt.want)
		}
	}
	for want, l := range map[string]Limits{
		"max_iterations is -1; write a whole number": {MaxIterations: -1}, "max_cost_usd is NaN; ": {MaxCostUSD: math.NaN()},
		"max_cost_usd is +Inf; ": {MaxCostUSD: math.Inf(1)}, "idle_timeout is -1s; ": {IdleTimeout: -time.Second}, "": Default(),
	} {
		if err := l.Check(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", l, err, want)
		}
	}
}

func TestLooser(t *testing.T) {
	limit, _ := ByKey("max_iterations")
	for _, tt := range []struct {
		a, b int
		want bool
	}{{0, 50, true}, {51, 50, true}, {50, 50, false}, {1, 50, false}, {50, 0, false}, {0, 0, false}} {
		if got := limit.IsLooser(Limits{MaxIterations: tt.a}, Limits{MaxIterations: tt.b}); got != tt.want {
			t.Errorf("%d and %d: %v", tt.a, tt.b, got)
		}
	}
}

func TestARaisedLimitHasRoom(t *testing.T) {
	limits := Limits{MaxIterations: 50, MaxCostUSD: 5, MaxDuration: 4 * time.Hour}
	for _, tt := range []struct {
		name    string
		limits  Limits
		reached Name
		used    Limits
		want    string
	}{
		{"doubled", limits, Iterations, Limits{MaxIterations: 50}, "100 iterations"},
		{"doubled until there is room", limits, Iterations, Limits{MaxIterations: 100}, "200 iterations"},
		{"money", limits, Cost, Limits{MaxCostUSD: 5.2}, "$10.00"},
		{"little money", Limits{MaxCostUSD: 0.001}, Cost, Limits{MaxCostUSD: 0.0011}, "$0.002"},
		{"time", limits, Time, Limits{MaxDuration: 4 * time.Hour}, "8h"},
		{"none any more", Limits{}, Iterations, Limits{MaxIterations: 3}, "0 iterations"},
		{"the largest", Limits{MaxIterations: math.MaxInt}, Iterations, Limits{MaxIterations: 3}, "9223372036854775807 iterations"},
	} {
		if _, words := tt.limits.Raise(tt.reached, tt.used); words != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, words, tt.want)
		}
	}
}

func TestLimitsInWords(t *testing.T) {
	for want, l := range map[string]Limits{
		"50 iterations · 4h of running · 10m of silence · 5 failures in a row · 5 iterations without progress · promise DONE": Default(),
		"1 iteration · $2.50 · 1 failure in a row · promise DONE":                                                             {MaxIterations: 1, MaxCostUSD: 2.5, MaxFailures: 1},
		"no limit of iterations · promise DONE":                                                                               {},
		"5 iterations · 1m of silence · promise DONE":                                                                         {MaxIterations: 5, IdleTimeout: time.Minute, ToolTimeout: time.Hour},
		"5 iterations · 1m of silence · 2h of a quiet tool · promise DONE":                                                    {MaxIterations: 5, IdleTimeout: time.Minute, ToolTimeout: 2 * time.Hour},
		"6 iterations · promise DONE":                                                                                         {MaxIterations: 6, ToolTimeout: 2 * time.Hour},
	} {
		if got := l.Line("DONE"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAToolMayBeQuietForLonger(t *testing.T) {
	for _, tt := range []struct{ idle, tool, want time.Duration }{
		{10 * time.Minute, time.Hour, 50 * time.Minute}, {time.Hour, 10 * time.Minute, 0}, {time.Hour, time.Hour, 0}, {10 * time.Minute, 0, forEver},
	} {
		if got := (Limits{IdleTimeout: tt.idle, ToolTimeout: tt.tool}).Patience(); got != tt.want {
			t.Errorf("%s and %s: %s, want %s", tt.idle, tt.tool, got, tt.want)
		}
	}
}

func TestATimeInJSONIsMilliseconds(t *testing.T) {
	for _, text := range []string{"-1", "1.5", "9223372036854775807", `"10m"`} {
		if err := json.Unmarshal([]byte(text), new(Duration)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	d := Duration(90 * time.Second)
	if data, err := json.Marshal(Given{IdleTimeout: &d}); string(data) != `{"idleTimeoutMs":90000}` || err != nil {
		t.Error(string(data), err)
	}
}
