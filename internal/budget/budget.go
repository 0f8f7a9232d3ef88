// Package budget is what the loops of a user may spend together, and what they have spent: one
// file for all processes.
package budget

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Limits are what all loops of a user may spend, in US dollars; 0: no limit. Days and weeks are the local calendar's,
// and weeks begin on Mondays.
type Limits struct{ PerDay, PerWeek float64 }

// Spent is what they have spent today and in this week.
type Spent struct{ Day, Week float64 }

// IsSet says whether there is a limit.
func (l Limits) IsSet() bool { return l.PerDay > 0 || l.PerWeek > 0 }

// Left is what they may spend now; without limits there is no end to that.
func (l Limits) Left(s Spent) float64 {
	left := math.Inf(1)
	if l.PerDay > 0 {
		left = l.PerDay - s.Day
	}
	if l.PerWeek > 0 {
		left = min(left, l.PerWeek-s.Week)
	}
	return max(left, 0)
}

// Text is what is left: "$3.10 of $5.00 left today, $12.00 of $20.00 this week"; "" without limits.
func (l Limits) Text(s Spent) string {
	var parts []string
	add := func(limit, spent float64, when string) {
		if limit > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s left %s", format.USD(max(limit-spent, 0)), format.USD(limit), when))
		}
	}
	add(l.PerDay, s.Day, "today")
	add(l.PerWeek, s.Week, "this week")
	return strings.Join(parts, ", ")
}

// Used says which limit is reached, and when it ends; "" while something is left.
func (l Limits) Used(s Spent) string {
	const text = "your budget of %s a %s is used (%s): resume %s, or raise budget.per_%[2]s in your config.toml"
	switch {
	case l.PerWeek > 0 && s.Week >= l.PerWeek:
		return fmt.Sprintf(text, format.USD(l.PerWeek), "week", format.USD(s.Week), "on Monday")
	case l.PerDay > 0 && s.Day >= l.PerDay:
		return fmt.Sprintf(text, format.USD(l.PerDay), "day", format.USD(s.Day), "after midnight")
	}
	return ""
}

// Ledger is the file with what was spent. It has what each loop has spent in all, so that what a
// loop says twice, or says only after a crash, counts once.
type Ledger struct{ Path string }

// Of returns the ledger of this user, even if RALPH_STATE_DIR names another folder for a loop's files.
func Of() (Ledger, error) {
	path, err := paths.Users("spent.json")
	return Ledger{path}, err
}

// content is what stands in the file. Nothing in it is removed because of its age: a clock that is
// wrong for a while would take the present with it.
type content struct {
	Days  map[string]float64 `json:"days"`  // by their dates
	Loops map[string]counted `json:"loops"` // by their ids
}

// counted is what a loop has spent in all, and when that was said last.
type counted struct {
	USD float64   `json:"usd"`
	At  time.Time `json:"at"`
}

const (
	maxDays  = 60
	maxLoops = 1000
	maxSize  = 1 << 20
	// patience is how long the file may be in others' hands.
	patience = 10 * time.Second
)

// Spent is what was spent up to now.
func (l Ledger) Spent(now time.Time) (Spent, error) {
	c, err := l.read()
	return c.spent(now), err
}

// Count books the total that a loop has spent. Its total at the first count doesn't count: nobody knows when that
// was.
func (l Ledger) Count(loopID string, usd float64, now time.Time) (Spent, error) {
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return Spent{}, fmt.Errorf("the ledger of your budget: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := filelock.Hold(ctx, l.Path+".lock")
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s is in another process's hands: %w", l.Path, err)
	}
	if err != nil {
		return Spent{}, fmt.Errorf("the ledger of your budget: %w", err)
	}
	defer lock.Close()
	defer filelock.Unlock(lock)
	c, err := l.read()
	if err != nil {
		return Spent{}, err
	}
	if c.add(loopID, usd, now) {
		data, err := json.MarshalIndent(c, "", " ")
		if err == nil {
			err = paths.WriteOwn(l.Path, data, true)
		}
		if err != nil {
			return Spent{}, fmt.Errorf("the ledger of your budget: %w", err)
		}
	}
	return c.spent(now), nil
}

// read reads the file; a missing one says that nothing was spent.
func (l Ledger) read() (c content, err error) {
	if l.Path == "" {
		return c, errors.New("there is no folder for the ledger of your budget: set HOME")
	}
	data, err := paths.ReadOwn(l.Path, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return content{map[string]float64{}, map[string]counted{}}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return content{}, fmt.Errorf("%s, the record of what your loops have spent, can't be read (%w), and no loop runs under "+
			"a budget without it: mend the file, or remove it to count from 0 again", l.Path, err)
	}
	return c, nil
}

// check looks for amounts that can't be.
func (c content) check() error {
	if c.Days == nil || c.Loops == nil {
		return errors.New("days or loops are missing")
	}
	for _, usd := range c.Days {
		if usd < 0 {
			return errors.New("less than nothing was spent")
		}
	}
	return nil
}

// add counts what a loop has spent since it was counted last, and says whether that is news.
func (c content) add(loopID string, usd float64, now time.Time) bool {
	was, isKnown := c.Loops[loopID]
	if isKnown && usd <= was.USD {
		return false
	}
	if isKnown {
		c.Days[now.Format(time.DateOnly)] += usd - was.USD
	}
	c.Loops[loopID] = counted{usd, now.UTC().Truncate(time.Second)}
	trim(c.Days, maxDays, func(a, b string) int { return strings.Compare(b, a) })
	trim(c.Loops, maxLoops, func(a, b string) int {
		return cmp.Or(c.Loops[b].At.Compare(c.Loops[a].At), strings.Compare(a, b))
	})
	return true
}

// trim keeps the first ones of a map's keys.
func trim[V any](m map[string]V, most int, compare func(a, b string) int) {
	if len(m) > most {
		for _, key := range slices.SortedFunc(maps.Keys(m), compare)[most:] {
			delete(m, key)
		}
	}
}

// spent adds up a day and its week.
func (c content) spent(now time.Time) (s Spent) {
	s.Day = c.Days[now.Format(time.DateOnly)]
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	for i := range 7 {
		day := time.Date(monday.Year(), monday.Month(), monday.Day()+i, 12, 0, 0, 0, time.UTC)
		s.Week += c.Days[day.Format(time.DateOnly)]
	}
	return s
}

// Book is the budget of a user as a loop has it. The zero value is none.
type Book struct {
	Ledger
	Limits Limits // as they were when the loop was configured
}

// Check says why nothing may run: the budget is used, or nobody knows.
func (b Book) Check() error {
	if !b.Limits.IsSet() {
		return nil
	}
	spent, err := b.Spent(time.Now())
	if err != nil {
		return err
	}
	if why := b.Limits.Used(spent); why != "" {
		return errors.New(why)
	}
	return nil
}

// Text is what is left of it, "" for no budget.
func (b Book) Text() string {
	if !b.Limits.IsSet() {
		return ""
	}
	spent, err := b.Spent(time.Now())
	if err != nil {
		return err.Error()
	}
	return "your budget: " + b.Limits.Text(spent)
}
