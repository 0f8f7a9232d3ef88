package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// kind says what a snapshot was made after. It is the first word of its commit's
// subject.
type kind string

const (
	kindStart     kind = "start"
	kindIteration kind = "iteration" // with its number
	kindBetween   kind = "between"   // the user's time
	kindCutOff    kind = "cut-off"   // a run that no iteration's snapshot came after, and the user's time since
	kindUndo      kind = "undo"
	kindRedo      kind = "redo" // with the commit of the undo
)

// step is a snapshot with what it is about. Each one's parent is the one before;
// where nothing changed there is none.
type step struct {
	Kind   kind
	Number int    // of the iteration
	Of     string // the commit of the undo that a redo took back

	commit string
	tree   string
}

func (s step) subject() string {
	switch s.Kind {
	case kindIteration:
		return fmt.Sprintf("%s %d", s.Kind, s.Number)
	case kindRedo:
		return fmt.Sprintf("%s %s", s.Kind, s.Of)
	}
	return string(s.Kind)
}

// steps are the loop's snapshots, the oldest first.
func (s *kept) steps(ctx context.Context) ([]step, error) {
	last, err := s.tip()
	if err != nil {
		return nil, err
	}
	if last.commit == "" {
		return nil, ErrNone
	}
	out, err := s.git.Text(ctx, nil, "log", "--first-parent", "--no-show-signature", "--no-color", "--format=%H %T %s", last.commit)
	if git.ExitCode(err) > 0 { // another repository is there by now, say
		err = fmt.Errorf("%w any more: %w", ErrNone, err)
	}
	if err != nil {
		return nil, err
	}
	var steps []step
	for line := range strings.Lines(out) {
		words := append(strings.Fields(line), "", "")
		st := step{commit: words[0], tree: words[1], Kind: kind(words[2])}
		switch st.Kind {
		case kindIteration:
			st.Number, _ = strconv.Atoi(words[3])
		case kindRedo:
			st.Of = words[3]
		}
		steps = append(steps, st)
	}
	slices.Reverse(steps)
	return steps, nil
}

// at is the index of the snapshot that shows the folder after iteration n: the
// last one of the iterations up to it.
func at(steps []step, n int) int {
	found := 0
	for i, st := range steps {
		if st.Kind == kindIteration && st.Number <= n {
			found = i
		}
	}
	return found
}

// span is a row of snapshots without a gap, and the one before the first of them.
type span struct{ from, first, to step }

// spans joins the chosen steps that follow each other, the oldest first.
func spans(steps []step, chosen func(step) bool) []span {
	var found []span
	for i := 1; i < len(steps); i++ {
		if !chosen(steps[i]) {
			continue
		}
		if n := len(found); n > 0 && found[n-1].to == steps[i-1] {
			found[n-1].to = steps[i]
			continue
		}
		found = append(found, span{steps[i-1], steps[i], steps[i]})
	}
	return found
}
