package changes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// A loop's snapshots have one ref, which names a tree of git's that lists theirs: no log of all refs
// shows them, and a mirror gets one ref of each loop. For people it has them by iteration, "0", "3"
// and "last"; for us each once more, under a name that says what it was made after. The same list stands
// in a file of ours, so that no git has to be asked for it.

// kind says what a snapshot was made after.
type kind string

const (
	kindStart     kind = "start"
	kindIteration kind = "iteration" // with its number
	kindBetween   kind = "between"   // the user's time
	kindCutOff    kind = "cut-off"   // a run that no iteration's snapshot came after, and the user's time since
	kindUndo      kind = "undo"
	kindRedo      kind = "redo" // with the undo's number
)

// snapshot is a tree of the folder, with what it was made after. Where nothing changed there is none.
type snapshot struct {
	Kind   kind
	Number int // of the iteration; of a redo, the place of the undo that it took back

	place int   // in the row
	made  int64 // seconds since 1970
	tree  string
}

// listing is what git makes the tree of that lists snapshots.
func listing(snapshots []snapshot) string {
	trees := map[string]string{}
	for place, st := range snapshots {
		trees[fmt.Sprintf("step.%d.%s.%d.%d", place, st.Kind, st.Number, st.made)] = st.tree
		switch trees["last"] = st.tree; st.Kind {
		case kindStart:
			trees["0"] = st.tree
		case kindIteration:
			trees[strconv.Itoa(st.Number)] = st.tree
		}
	}
	var b strings.Builder
	for name, tree := range trees {
		fmt.Fprintf(&b, "040000 tree %s\t%s\x00", tree, name)
	}
	return b.String()
}

// snapshots are the loop's snapshots, the oldest first.
func (s *kept) snapshots() (snapshots []snapshot, err error) {
	last, err := s.tip()
	if err != nil {
		return nil, err
	}
	if last.list == "" {
		return nil, ErrNone
	}
	for _, line := range git.Fields([]byte(last.listing)) { // "040000 tree oid\tname"
		of, name, _ := strings.Cut(line, "\t")
		words := strings.Split(name, ".")
		if len(words) != 5 {
			continue
		}
		st := snapshot{Kind: kind(words[2]), tree: of[strings.LastIndexByte(of, ' ')+1:]}
		st.place, _ = strconv.Atoi(words[1])
		st.Number, _ = strconv.Atoi(words[3])
		st.made, _ = strconv.ParseInt(words[4], 10, 64)
		snapshots = append(snapshots, st)
	}
	if len(snapshots) == 0 {
		return nil, fmt.Errorf("reading the snapshots: %s lists none", filepath.Join(s.home, tipName))
	}
	slices.SortFunc(snapshots, func(a, b snapshot) int { return a.place - b.place })
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
		if st.Kind == kindIteration && st.Number <= n {
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
