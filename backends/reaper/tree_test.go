package reaper

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fakeTable is a system with processes that do as they are told.
type fakeTable struct {
	entries []Entry
	marks   map[Proc]string
	deaf    map[Proc]bool // to SIGTERM
	eternal map[Proc]bool // the system holds them
	onEnd   func(Proc)
	heard   []string
}

func (f *fakeTable) Processes() []Entry             { return slices.Clone(f.entries) }
func (f *fakeTable) Bears(p Proc, mark string) bool { return f.marks[p] == mark }
func (f *fakeTable) Signal(p Proc, s syscall.Signal) {
	f.heard = append(f.heard, p.Start+" "+s.String())
	if f.eternal[p] || s == syscall.SIGTERM && f.deaf[p] {
		return
	}
	f.entries = slices.DeleteFunc(f.entries, func(e Entry) bool { return e.Proc == p })
	if f.onEnd != nil {
		f.onEnd(p)
	}
}

func (f *fakeTable) starts(name string, pid, parent, group int) Proc {
	p := Proc{pid, name}
	f.entries = append(f.entries, Entry{p, parent, group})
	return p
}

func (f *fakeTable) ends(p Proc) {
	f.entries = slices.DeleteFunc(f.entries, func(e Entry) bool { return e.Proc == p })
	for i := range f.entries {
		if f.entries[i].Parent == p.PID {
			f.entries[i].Parent = 1
		}
	}
}

// family is an agent with all kinds of processes below and beside it.
func family() (f *fakeTable, t *Tree, agent, child Proc) {
	f = &fakeTable{marks: map[Proc]string{}, deaf: map[Proc]bool{}, eternal: map[Proc]bool{}}
	t = &Tree{Table: f, Mark: "mine"}
	f.starts("init", 1, 0, 1)
	f.starts("the user's", 50, 1, 50)
	agent = f.starts("agent", 100, 10, 100)
	t.Add(agent)
	child = f.starts("child", 101, 100, 101)
	f.starts("grandchild", 102, 101, 102)
	f.starts("of its group", 103, 1, 100)
	marked := f.starts("marked", 104, 1, 104)
	f.starts("below it", 105, 104, 105)
	other := f.starts("of another run", 106, 1, 106)
	f.marks[marked], f.marks[other] = "mine", "another's"
	return f, t, agent, child
}

func names(all []Proc) string {
	var list []string
	for _, p := range all {
		list = append(list, p.Start)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func TestATreeIsFoundAndRemembered(t *testing.T) {
	f, tree, agent, child := family()
	var told []Proc
	tree.OnNew = func(p Proc) { told = append(told, p) }
	if got, want := names(tree.Find(false)), "agent, child, grandchild, of its group"; got != want {
		t.Errorf("at a fork: %s, want %s", got, want)
	}
	if got, want := names(told), "child, grandchild, of its group"; got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	f.ends(agent)
	f.ends(child)
	f.starts("later, of its group", 107, 1, 100)
	if got, want := names(tree.Find(false)), "grandchild, later, of its group, of its group"; got != want {
		t.Errorf("without parents: %s, want %s", got, want)
	}
	if got, want := names(tree.Find(true)), "below it, grandchild, later, of its group, marked, of its group"; got != want {
		t.Errorf("at the end: %s, want %s", got, want)
	}
}

// A number that another process has by now leads to nobody.
func TestNumbersAreGivenAgain(t *testing.T) {
	f, tree, agent, child := family()
	tree.Find(true)
	for _, p := range []Proc{agent, child} {
		f.ends(p)
	}
	f.starts("an innocent", 100, 1, 100)
	f.starts("its child", 110, 100, 100)
	f.starts("another", 101, 1, 101)
	if got := names(tree.Find(true)); strings.Contains(got, "innocent") || strings.Contains(got, "its child") || strings.Contains(got, "another") {
		t.Errorf("found %s", got)
	}
}

func TestATreeIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, tree, _, child := family()
		f.deaf[child] = true
		begun := false
		f.onEnd = func(p Proc) { // who is asked to end starts another one
			if p.Start == "agent" && !begun {
				begun = true
				last := f.starts("last words", 120, 1, 120)
				f.marks[last] = "mine"
			}
		}
		began := time.Now()
		found, err := tree.End(time.Second)
		if err != nil || found != 6 {
			t.Errorf("%d found, %v", found, err)
		}
		if took := time.Since(began); took < time.Second || took > time.Second+KillLimit {
			t.Errorf("it took %v", took)
		}
		var left []Proc
		for _, e := range f.entries {
			left = append(left, e.Proc)
		}
		if got, want := names(left), "init, of another run, the user's"; got != want {
			t.Errorf("left are %s, want %s", got, want)
		}
		if !slices.Contains(f.heard, "child terminated") || !slices.Contains(f.heard, "child killed") || slices.Contains(f.heard, "grandchild killed") {
			t.Errorf("they heard %q", f.heard)
		}
	})
}

func TestWhoCannotBeEndedIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, tree, agent, child := family()
		f.eternal[agent], f.eternal[child] = true, true
		if _, err := tree.End(0); err == nil || err.Error() != "processes [100 101] could not be ended" {
			t.Errorf("%v", err)
		}
	})
}
