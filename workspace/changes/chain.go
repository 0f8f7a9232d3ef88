package changes

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// A loop's snapshots have one ref, which names a tree of git's that lists theirs: no log of all refs
// shows them, and a mirror gets one ref of each loop. For people it has them by iteration, "0", "3"
// and "last"; for us each once more, under a name that says what it was made after. The same list stands
// in a file of ours, so that no git has to be asked for it.
//
// A list is written anew for each snapshot, so it has an end: the oldest of a long one move into a list of their
// own, "older.0.1-31", which the loop's list names. The first number is the place of its first snapshot, the others are
// its iterations. Two of these that are alike in size become one, so that there are few, and each snapshot moves seldom.

// kind says what a snapshot was made after.
type kind string

const (
	kindStart     kind = "start"
	kindIteration kind = "iteration" // with its number
	kindBetween   kind = "between"   // the user's time
	kindCutOff    kind = "cut-off"   // a run that no iteration's snapshot came after, with its iteration's number, and what changed since
	kindUndo      kind = "undo"
	kindRedo      kind = "redo" // with the undo's number
)

// snapshot is a tree of the folder, with what it was made after. Where nothing changed there is none.
type snapshot struct {
	Kind   kind
	Number int // of the iteration, 0 is unknown; of a redo, the place of the undo that it took back

	place int   // in the row
	made  int64 // seconds since 1970
	tree  string
}

// isWork says whether it has what an iteration did.
func (st snapshot) isWork() bool {
	return st.Kind == kindIteration || st.Kind == kindCutOff && st.Number > 0
}

// perOlder is how many snapshots move out of a loop's list at a time. It keeps at least as many. Tests have less.
var perOlder = 32

// older is a list of snapshots that are no part of the loop's list any more.
type older struct {
	place int // of its first snapshot
	name  string
	tree  string
}

// list is a loop's snapshots, the oldest first.
type list struct {
	first string // the tree of the first snapshot
	older []older
	own   []snapshot // behind them
}

// text is what git makes a list's tree of, and what our file of it has.
func (l list) text() string {
	trees := map[string]string{"0": l.first}
	form := "step.%d.%s.%d.%d"
	if len(l.older) > 0 {
		form += ".later" // a program that knows no older lists finds none here, rather than a wrong first one
	}
	for _, o := range l.older {
		trees[o.name] = o.tree
	}
	for _, st := range l.own {
		trees[fmt.Sprintf(form, st.place, st.Kind, st.Number, st.made)] = st.tree
		if trees["last"] = st.tree; st.isWork() {
			trees[strconv.Itoa(st.Number)] = st.tree
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		fmt.Fprintf(&b, "040000 tree %s\t%s\x00", trees[name], name)
	}
	return b.String()
}

// readList reads what text made, or git ls-tree -z prints of the list's tree.
func readList(text string) (l list) {
	for _, line := range git.Fields([]byte(text)) { // "040000 tree oid\tname"
		of, name, _ := strings.Cut(line, "\t")
		tree := of[strings.LastIndexByte(of, ' ')+1:]
		words := strings.Split(name, ".")
		switch {
		case name == "0":
			l.first = tree
		case words[0] == "older" && len(words) == 3:
			o := older{name: name, tree: tree}
			o.place, _ = strconv.Atoi(words[1])
			l.older = append(l.older, o)
		case words[0] == "step" && len(words) >= 5:
			st := snapshot{Kind: kind(words[2]), tree: tree}
			st.place, _ = strconv.Atoi(words[1])
			st.Number, _ = strconv.Atoi(words[3])
			st.made, _ = strconv.ParseInt(words[4], 10, 64)
			l.own = append(l.own, st)
		}
	}
	slices.SortFunc(l.own, func(a, b snapshot) int { return a.place - b.place })
	slices.SortFunc(l.older, func(a, b older) int { return a.place - b.place })
	return l
}

// append adds a snapshot, which gets its place.
func (l *list) append(st snapshot) {
	if n := len(l.own); n > 0 {
		st.place = l.own[n-1].place + 1
	}
	if st.place == 0 {
		l.first = st.tree
	}
	l.own = append(l.own, st)
}

// shorten moves the oldest snapshots out of a long list, together with older lists that are no longer than that. It
// returns the lists that are gone by that, once the loop's list is written.
func (s *archive) shorten(l *list) (gone []older, err error) {
	if len(l.own) < 2*perOlder {
		return nil, nil
	}
	moved := list{first: l.first, own: l.own[:perOlder]}
	l.own = l.own[perOlder:]
	n := len(l.older)
	for ; n > 0 && moved.own[0].place-l.older[n-1].place <= len(moved.own); n-- {
		before, err := s.inOlder(l.older[n-1], moved.own[0])
		if err != nil {
			return nil, err
		}
		moved.own = append(before, moved.own...)
	}
	first, last := 0, 0
	for _, st := range moved.own {
		if st.isWork() {
			first, last = cmp.Or(first, st.Number), st.Number
		}
	}
	o := older{place: moved.own[0].place}
	o.name = fmt.Sprintf("older.%d.%d-%d", o.place, first, last)
	if o.tree, err = s.makeList(moved.text()); err == nil {
		err = s.writeOwn(olderName(o.place), []byte(moved.text()))
	}
	gone = slices.Clone(l.older[min(n+1, len(l.older)):]) // the first has the place of the new one
	l.older = append(l.older[:n], o)
	return gone, err
}

// inOlder returns the snapshots of an older list up to the one that the next list begins with: a kill while two
// became one leaves both.
func (s *archive) inOlder(o older, next snapshot) ([]snapshot, error) {
	text, err := regular.Read(filepath.Join(s.home, olderName(o.place)), regular.Long)
	own := readList(string(text)).own
	return own[:min(len(own), next.place-o.place)], err
}

// olderName is the file that has what an older list says.
func olderName(place int) string { return fmt.Sprintf("older-%d", place) }

// snapshots are the loop's snapshots, the oldest first.
func (s *archive) snapshots() (snapshots []snapshot, err error) {
	last, err := s.tip()
	if err != nil {
		return nil, err
	}
	if last.list == "" {
		return nil, ErrNone
	}
	l := readList(last.listing)
	if snapshots = l.own; len(snapshots) == 0 {
		return nil, fmt.Errorf("reading the snapshots: %s lists none", filepath.Join(s.home, tipName))
	}
	for _, o := range slices.Backward(l.older) {
		own, err := s.inOlder(o, snapshots[0])
		if err != nil {
			return nil, fmt.Errorf("reading the snapshots: %w", err)
		}
		snapshots = append(own, snapshots...)
	}
	for i := range snapshots {
		snapshots[i].place = i
	}
	return snapshots, nil
}

// lost says of an error of git's, which was asked about snapshots, that there are none: another repository
// is there by now, say.
func lost(err error) error {
	if git.ExitCode(err) > 0 {
		return fmt.Errorf("%w any more: %w", ErrNone, err)
	}
	return err
}

// at is the index of the snapshot that shows the folder after iteration n: the
// last one of the iterations up to it.
func at(snapshots []snapshot, n int) int {
	found := 0
	for i, st := range snapshots {
		if st.isWork() && st.Number <= n {
			found = i
		}
	}
	return found
}

// span is a row of snapshots without a gap, and the one before the first of them.
type span struct{ from, first, to snapshot }

// spans joins the chosen snapshots that follow each other, the oldest first.
func spans(snapshots []snapshot, chosen func(snapshot) bool) []span {
	var found []span
	for i := 1; i < len(snapshots); i++ {
		if !chosen(snapshots[i]) {
			continue
		}
		if n := len(found); n > 0 && found[n-1].to == snapshots[i-1] {
			found[n-1].to = snapshots[i]
			continue
		}
		found = append(found, span{snapshots[i-1], snapshots[i], snapshots[i]})
	}
	return found
}
