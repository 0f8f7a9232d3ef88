package child

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// iterates begins and leaves an iteration for each wish, and one at its start. Its last words are how often.
const iterates = `n=0
run() { n=$((n + 1)); echo '{"sessionUpdate":"_ralph/iteration"}'; echo said $n; echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"costUsd":0.5,"text":"t"}'; echo unheard; }
run once
while read -r wish; do case "$wish" in next) run once;; end) run promise; exit 3;; esac; done
echo $n >&2`

// heard is what a child has said.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) say(line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, string(line))
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "")
}

func start(t *testing.T, script string, say func([]byte)) *Child {
	t.Helper()
	c, err := Start("sh", os.Environ(), []string{"-c", script}, []string{"a", "b"}, say)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	return c
}

// until waits for a child that is left, or has ended.
func until(t *testing.T, c *Child) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	err := c.Wait(ctx)
	if ctx.Err() != nil {
		t.Fatal("it goes on")
	}
	return err
}

func TestAChildRunsIterations(t *testing.T) {
	var first, second heard
	c := start(t, iterates, first.say)
	if err := until(t, c); err != nil {
		t.Fatal(err)
	}
	if last, begun := c.Said(); !begun || !GoesOn(last) || last.Iterations != 1 || last.Cost.USD != 0.5 || last.Text != "t" {
		t.Errorf("it said %+v, begun %v", last, begun)
	}
	c.Renew()
	c.Again(second.say)
	if err := until(t, c); err != nil {
		t.Fatal(err)
	}
	if last, begun := c.Said(); !begun || last.Iterations != 2 {
		t.Errorf("then it said %+v, begun %v", last, begun)
	}
	if !strings.Contains(first.text(), "said 1\n") || strings.Contains(first.text(), "said 2") || !strings.Contains(second.text(), "said 2\n") {
		t.Errorf("the first iteration said\n%s\nand the second\n%s", first.text(), second.text())
	}
	if strings.Contains(first.text(), "unheard") {
		t.Error("what it said while it was left was told")
	}
	c.End()
	if c.Words() != "2" || c.Fits([]string{"a", "b"}, time.Hour) {
		t.Errorf("it ended with the words %q, and would still do", c.Words())
	}
}

func TestAChildThatIsOverSaysHow(t *testing.T) {
	c := start(t, iterates, func([]byte) {})
	_ = until(t, c)
	c.Again(func([]byte) {})
	_ = until(t, c)
	c.write("end\n")
	<-c.gone
	if c.err == nil || c.err.Error() != "exit status 3" {
		t.Errorf("it ended with %v", c.err)
	}
	if c = start(t, "echo no login >&2; exit 4", nil); until(t, c) == nil || c.Words() != "no login" {
		t.Errorf("one that fails ended with %v, and the words %q", c.err, c.Words())
	}
	if last, begun := c.Said(); begun || last.Reason != "" {
		t.Errorf("it said %+v, begun %v", last, begun)
	}
	c = start(t, "yes word | head -c 10000 >&2", nil)
	if _ = until(t, c); len(c.words) != MaxWords {
		t.Errorf("%d bytes of its last words are kept", len(c.words))
	}
}

func TestAChildFitsForALeaseAndItsArguments(t *testing.T) {
	c := start(t, iterates, func([]byte) {})
	_ = until(t, c)
	if !c.Fits([]string{"a", "b"}, time.Hour) || c.Fits([]string{"a"}, time.Hour) || c.Fits([]string{"a", "c"}, time.Hour) {
		t.Error("another's arguments would do, or its own wouldn't")
	}
	c.renewed = time.Now().Add(-20 * time.Minute)
	if c.Fits([]string{"a", "b"}, 30*time.Minute) {
		t.Error("one would do that is about to end")
	}
	if c.Renew(); !c.Fits([]string{"a", "b"}, 30*time.Minute) {
		t.Error("one whose lease was renewed wouldn't do")
	}
}

func TestAChildEndsWithWhoWaitsForIt(t *testing.T) {
	c := start(t, "cat; echo over >&2", nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.Wait(ctx); err != nil || c.Words() != "over" {
		t.Errorf("it ended with %v, and the words %q", err, c.Words())
	}
}

func TestTheOldestOfThoseThatAreLeftEnd(t *testing.T) {
	var l Left
	var all []*Child
	for _, loop := range []string{"one", "two", "three"} {
		all = append(all, start(t, "cat", nil))
		l.Keep(loop, all[len(all)-1], 2)
	}
	<-all[0].gone
	if l.Take("one") != nil || l.Take("two") != all[1] || l.Take("two") != nil {
		t.Error("what was left isn't given away once each")
	}
	l.End()
	<-all[2].gone
	if isGone(all[1]) || l.Take("three") != nil {
		t.Error("what was given away has ended, or what has ended is given away")
	}
}

// isGone says whether a child is gone.
func isGone(c *Child) bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
