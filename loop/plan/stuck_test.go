package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// course is what each of a row of runs is given, where some tasks are never done.
func course(t *testing.T, text string, runs, workers int, never ...string) (lines []string, b Book, p Plan) {
	t.Helper()
	p, err := Parse("PLAN.md", []byte(text))
	must.OK(t, err)
	for range runs {
		batch := b.Batch(p, workers, func(Item) bool { return false })
		next, ok := b.NextOf(p)
		if ok != (len(batch) > 0) || ok && next.ID != batch[0].ID {
			t.Errorf("next is %+v, and the batch %+v", next, batch)
		}
		line := TextOf(batch)
		for _, r := range b.Begin(p, batch) {
			line += " aside:" + r.Text
		}
		lines = append(lines, line)
		for _, it := range batch {
			if slices.Contains(never, it.Text) {
				b.Refute(it, "make failed")
			} else {
				p = p.Mark(it.ID, true)
			}
		}
		b.Look(p)
	}
	return lines, b, p
}

func TestATaskThatIsRefutedIsSetAside(t *testing.T) {
	for _, tt := range []struct {
		name, plan, never string
		workers, runs     int
		want, stuck       string
	}{
		{"others go on, and it has one more try", "- [ ] a\n- [ ] b\n- [ ] c\n", "a", 1, 7, "a|a|a|b aside:a|c|a|", "a 4 given_up"},
		{"what waits for it doesn't", "- [ ] a\n- [ ] b (after: a)\n- [ ] c\n", "a", 1, 6, "a|a|a|c aside:a|a|", "a 4 given_up"},
		{"two of them", "- [ ] a\n- [ ] b\n- [ ] c\n", "a b", 1, 10, "a|a|a|b aside:a|b|b|c aside:b|a|b|", "a 4 given_up/b 4 given_up"},
		{"beside each other", "- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n", "a b", 2, 6, "a · b|a · b|a · b|c · d aside:a aside:b|a · b|", "a 4 given_up/b 4 given_up"},
		{"alone it goes on", "- [ ] a\n", "a", 1, 6, "a|a|a|a|a|a", "a 6 "},
		{"the last one goes on", "- [ ] a\n- [ ] b\n", "b", 1, 6, "a|b|b|b|b|b", "b 5 "},
		{"none", "- [ ] a\n- [ ] b\n", "", 1, 3, "a|b|", ""},
	} {
		lines, b, p := course(t, tt.plan, tt.runs, tt.workers, strings.Fields(tt.never)...)
		if got := strings.Join(lines, "|"); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
		var stuck []string
		for _, r := range b.Stuck() {
			stuck = append(stuck, fmt.Sprintf("%s %d %s", r.Text, r.Times, r.Chance))
		}
		slices.Sort(stuck)
		if got := strings.Join(stuck, "/"); got != tt.stuck {
			t.Errorf("%s: stuck %s", tt.name, got)
		}
		if len(b.Stuck()) > 0 && !strings.HasPrefix(b.WhyNot(p).Error(), `"`) || len(b.Stuck()) == 0 && b.WhyNot(p).Error() != "PLAN.md has no open task" {
			t.Errorf("%s: why: %v", tt.name, b.WhyNot(p))
		}
	}
}

// A task that passes in the end, or that its user checks, is forgotten.
func TestATaskThatIsDoneIsNotStuck(t *testing.T) {
	_, b, p := course(t, "- [ ] a\n- [ ] b\n", 5, 1, "a")
	if len(b.Stuck()) != 1 {
		t.Fatalf("%+v", b)
	}
	it, _ := p.named("a")
	if b.Look(p.Mark(p.Items[it[0]].ID, true)); len(b.Refused) != 0 {
		t.Errorf("%+v", b.Refused)
	}
}

func TestTwiceIsNotStuck(t *testing.T) {
	_, b, _ := course(t, "- [ ] a\n", 2, 1, "a")
	if len(b.Refused) != 1 || len(b.Stuck()) != 0 {
		t.Errorf("%+v", b)
	}
	b.Refute(Item{ID: b.Refused[0].ID, Text: "a"}, "make failed (exit 2)")
	if got := b.Stuck(); len(got) != 1 || got[0].String() != `"a": make failed (exit 2), 3 times` {
		t.Errorf("%+v", got)
	}
}
