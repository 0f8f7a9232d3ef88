package fleet

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

func TestATaskJoinsAQueue(t *testing.T) {
	task := Task{On: []string{"gpu", "x"}, Reserve: 1}
	must(0, Join(&task, ledger.Queue{Name: "a", Needs: []string{"gpu"}}))
	if task.Queue != "a" || !slices.Equal(task.On, []string{"gpu", "x"}) {
		t.Errorf("it is %+v", task)
	}
	if err := Join(&task, ledger.Queue{Name: "a", PerDay: 0.5}); err == nil || !strings.Contains(err.Error(), "more than the budget of the queue a, $0.50") {
		t.Error(err)
	}
}

// A worker asks for loops of a queue only while it may take them: those that wait for money cost nothing.
func TestWhoseLoopsAWorkerTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		must(0, ledger.SetQueue(t.Context(), m, "theirs", func(q *ledger.Queue) { q.Workers = []string{"other"} }))
		must(0, ledger.SetQueue(t.Context(), m, "ours", func(*ledger.Queue) {}))
		must(0, ledger.SetQueue(t.Context(), m, "walled", func(q *ledger.Queue) { q.Walled = true }))
		for name, tt := range map[string]struct {
			queues []string
			want   string
		}{"all": {nil, " ours"}, "some": {[]string{"ours", "gone", "walled"}, "ours walled"}, "those of none": {[]string{""}, ""}} {
			w := Worker{Bus: m, Name: "w", Queues: tt.queues}
			var takes []string
			for _, queue := range []string{"", "ours", "theirs", "gone", "walled"} {
				if w.takes(t.Context(), Lane{Queue: queue}) {
					takes = append(takes, queue)
				}
			}
			if got := strings.Join(takes, " "); got != tt.want {
				t.Errorf("%s: it takes those of %q, want %q", name, got, tt.want)
			}
		}
		w := Worker{Bus: m, Name: "w"}
		takes := func() bool { return w.takes(t.Context(), Lane{Queue: "ours"}) }
		w.queues.shut("ours", w.now().Add(3*time.Second))
		if takes() {
			t.Error("it takes loops of a queue whose budget is used up")
		}
		time.Sleep(3 * time.Second)
		if !takes() {
			t.Error("it doesn't look again")
		}
		must(0, ledger.RemoveQueue(t.Context(), m, "ours"))
		time.Sleep(gateLasts)
		if takes() {
			t.Error("it takes loops of a queue that was removed")
		}
	})
}
