package budget

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// counts makes the test binary a loop that spends a dollar after the other, into a file.
const counts = "BUDGET_TEST_COUNTS"

func TestMain(m *testing.M) {
	if path := os.Getenv(counts); path != "" {
		id, from := os.Getenv("BUDGET_TEST_LOOP"), os.Getenv("BUDGET_TEST_FROM")
		usd, _ := strconv.ParseFloat(from, 64)
		for {
			if _, err := (Ledger{path}).Count(id, usd, time.Now()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(usd)
			usd++
		}
	}
	os.Exit(m.Run())
}

func at(text string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local)
	if err != nil {
		panic(err)
	}
	return t
}

func ledger(t *testing.T) Ledger { return Ledger{filepath.Join(t.TempDir(), "a", "spent.json")} }

// A day is the calendar's, a week begins on Monday, and a clock that jumps loses nothing.
func TestDaysAndWeeks(t *testing.T) {
	l := ledger(t)
	usd := 0.0
	for _, tt := range []struct {
		now       string
		more      float64
		day, week float64
	}{
		{"2026-11-22 12:00", 0, 0, 0}, // a Sunday; the first time it is counted
		{"2026-11-22 23:59", 1, 1, 1},
		{"2026-11-23 00:00", 2, 2, 2}, // Monday
		{"2026-11-23 23:59", 1, 3, 3},
		{"2026-11-24 00:01", 4, 4, 7},
		{"2026-11-29 12:00", 1, 1, 8}, // Sunday
		{"2026-11-23 12:00", 1, 4, 9}, // it jumps back
		{"2038-01-01 00:00", 1, 1, 1}, // and ahead
		{"2026-11-29 12:00", 0, 1, 9}, // and is right again
		{"2026-11-30 00:00", 0, 0, 0}, // another week
		{"2026-12-31 23:00", 1, 1, 1}, // Thursday
		{"2027-01-01 01:00", 1, 1, 2}, // the week goes on over the year's end
		{"2027-01-03 01:00", .5, .5, 2.5},
	} {
		usd += tt.more
		got, err := l.Count("a", usd, at(tt.now))
		if err != nil || got != (Spent{tt.day, tt.week}) {
			t.Errorf("%s: %+v, %v, want %v and %v", tt.now, got, err, tt.day, tt.week)
		}
	}
}

// What is said twice, or less than before, counts once; what was spent before the first time doesn't.
func TestWhatCounts(t *testing.T) {
	l, now := ledger(t), at("2026-11-25 12:00")
	for _, tt := range []struct {
		loop string
		usd  float64
		want float64
	}{{"a", 5, 0}, {"a", 6, 1}, {"a", 6, 1}, {"a", 4, 1}, {"a", 6.5, 1.5}, {"b", 0, 1.5}, {"b", 2, 3.5}, {"a", 7, 4}} {
		if got, err := l.Count(tt.loop, tt.usd, now); err != nil || got.Day != tt.want {
			t.Errorf("%s has spent %v: %+v, %v, want %v", tt.loop, tt.usd, got, err, tt.want)
		}
	}
	if got, err := l.Spent(now); err != nil || got.Day != 4 {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestTheFileIsBounded(t *testing.T) {
	l, now := ledger(t), at("2026-01-01 12:00")
	c := content{map[string]float64{}, map[string]counted{}}
	for i := range 2 * maxLoops {
		id := strconv.Itoa(i)
		c.add(id, 0, now)
		c.add(id, 1, now)
		now = now.Add(time.Hour)
	}
	if len(c.Days) != maxDays || len(c.Loops) != maxLoops || c.Days[now.Add(-time.Hour).Format(time.DateOnly)] == 0 {
		t.Errorf("%d days, %d loops", len(c.Days), len(c.Loops))
	}
	if _, ok := c.Loops[strconv.Itoa(2*maxLoops-1)]; !ok {
		t.Error("the last loop is gone")
	}
	if _, err := l.Count("a", 0, now); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limits     Limits
		spent      Spent
		left       float64
		text, used string
	}{
		{Limits{}, Spent{9, 9}, math.Inf(1), "", ""},
		{Limits{PerDay: 5}, Spent{2, 9}, 3, "$3.00 of $5.00 left today", ""},
		{Limits{5, 20}, Spent{2, 19}, 1, "$3.00 of $5.00 left today, $1.00 of $20.00 left this week", ""},
		{Limits{5, 20}, Spent{5, 6}, 0, "$0.00 of $5.00 left today, $14.00 of $20.00 left this week", "your budget of $5.00 a day is used ($5.00): resume after midnight, or raise budget.per_day in your config.toml"},
		{Limits{5, 20}, Spent{6, 21}, 0, "$0.00 of $5.00 left today, $0.00 of $20.00 left this week", "your budget of $20.00 a week is used ($21.00): resume on Monday, or raise budget.per_week in your config.toml"},
		{Limits{PerWeek: 20}, Spent{20, 19.75}, 0.25, "$0.25 of $20.00 left this week", ""},
	} {
		if left, text, used := tt.limits.Left(tt.spent), tt.limits.Text(tt.spent), tt.limits.Used(tt.spent); left != tt.left || text != tt.text || used != tt.used {
			t.Errorf("%+v, %+v: %v, %q, %q", tt.limits, tt.spent, left, text, used)
		}
	}
}

// A file that can't be read closes the budget, and stays as it is.
func TestADamagedFile(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"days":{}}`, `{"days":{"2026-11-25":-5},"loops":{}}`, `{"days":{"2026-11-25":"x"},"loops":{}}`} {
		l, now := ledger(t), at("2026-11-25 12:00")
		must.Write(t, l.Path, text)
		_, err := l.Count("a", 1, now)
		if err == nil || !strings.Contains(err.Error(), "mend the file, or remove it to count from 0 again") {
			t.Errorf("%q: %v", text, err)
		}
		book := Book{Ledger: l, Limits: Limits{PerDay: 1}}
		if err := book.Check(); err == nil || !strings.Contains(err.Error(), "no loop runs under a budget without it") {
			t.Errorf("%q starts: %v", text, err)
		}
		if data, _ := os.ReadFile(l.Path); string(data) != text {
			t.Errorf("it was %q and is %q", text, data)
		}
		os.Remove(l.Path)
		if err := book.Check(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (Ledger{}).Spent(time.Now()); err == nil {
		t.Error("without a folder")
	}
}

// Two processes count into one file, and are killed in the middle again and again: nothing is lost,
// and nothing counts twice.
func TestTwoProcessesThatAreKilled(t *testing.T) {
	l := ledger(t)
	last := map[string]float64{}
	for range 3 {
		var lives []func()
		for _, id := range []string{"a", "b"} {
			program := exec.Command(os.Args[0])
			program.Env = append(os.Environ(), counts+"="+l.Path, "BUDGET_TEST_LOOP="+id, fmt.Sprint("BUDGET_TEST_FROM=", last[id]))
			out, err := program.StdoutPipe()
			must.OK(t, err)
			program.Stderr = os.Stderr
			must.OK(t, program.Start())
			lives = append(lives, func() {
				var usd float64
				for range 20 {
					if _, err := fmt.Fscanln(out, &usd); err != nil {
						t.Error(err)
					}
				}
				if err := program.Process.Kill(); err != nil {
					t.Error(err)
				}
				for { // what it said before it died
					if _, err := fmt.Fscanln(out, &usd); err != nil {
						break
					}
				}
				_ = program.Wait()
				last[id] = usd
			})
		}
		for _, end := range lives {
			end()
		}
	}
	now := time.Now()
	for id, usd := range last { // what it spent last it says when it goes on; it may have been counted
		must.OK(t, must.Err(l.Count(id, usd+1, now)))
	}
	if got, err := l.Spent(now); err != nil || got.Week != last["a"]+last["b"]+2 || last["a"] < 50 {
		t.Errorf("%+v, %v, want the sum of %v", got, err, last)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), "*.tmp")); len(left) > 2*3 {
		t.Errorf("left: %q", left)
	}
}
