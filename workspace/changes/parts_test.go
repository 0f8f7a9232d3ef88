package changes

import (
	"slices"
	"strings"
	"testing"
)

// An index says how much of the folder a snapshot may add, whatever makes that snapshot.
func TestTheRationOfASnapshot(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	first, later := tip{}, tip{list: "l", spent: 20 * mb}
	for name, tt := range map[string]struct {
		index
		own  bool
		last tip
		want ration
	}{
		"the first one":              {index{most: 100 * mb}, true, first, ration{fresh: 50 * mb, again: 50 * mb}},
		"a later one":                {index{most: 100 * mb}, true, later, ration{fresh: 40 * mb, again: 10 * mb}},
		"the last one":               {index{most: 100 * mb, isFinal: true}, true, later, ration{fresh: 40 * mb, again: 40 * mb}},
		"one before an undo":         {index{most: 100 * mb, takesAll: true}, true, later, unbounded},
		"nothing is left":            {index{most: 10 * mb}, true, later, ration{}},
		"no bound":                   {index{}, true, later, unbounded},
		"in a repository":            {index{most: 100 * mb}, false, later, ration{fresh: 40 * mb, again: 10 * mb, one: maxUnknown}},
		"the first one, in one":      {index{most: 1000 * mb}, false, first, ration{fresh: maxAtStart, again: 500 * mb, one: maxUnknown}},
		"bytes that no tip has, yet": {index{most: 100 * mb, in: &archive{owed: 60 * mb}}, true, later, ration{fresh: 10 * mb, again: 5 * mb / 2}},
	} {
		x := tt.index
		if x.in == nil {
			x.in = &archive{}
		}
		x.in.book.Own = tt.own
		if got := x.ration(tt.last); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// An index takes the smallest files first, and says why it leaves out others. No git is asked.
func TestThePortionOfASnapshot(t *testing.T) {
	t.Parallel()
	x := indexOf(&archive{book: book{Top: t.TempDir()}})
	c := candidates{aside: map[string]bool{}, tracked: map[string]bool{"theirs": true}, found: []found{
		{"new-2", 2, false}, {"known-9", 9, true}, {"new-1", 1, false}, {"known-1", 1, true}, {"new-8", 8, false},
		{"unknown", 30, false}, {"theirs", 20, false}, {"gone", 0, true},
	}}
	x.portion(&c, ration{fresh: 4, again: 5, one: 10})
	if want := []string{"gone", "known-1", "new-1", "new-2"}; !slices.Equal(c.paths, want) || c.bytes != 4 {
		t.Errorf("taken are %q with %d bytes, want %q", c.paths, c.bytes, want)
	}
	if !x.deferred["known-9"] || len(x.deferred) != 1 || !c.aside["new-8"] || !c.aside["unknown"] || !c.aside["theirs"] || len(c.aside) != 3 {
		t.Errorf("deferred are %v, aside %v", x.deferred, c.aside)
	}
	notes := strings.Join(c.notes, "\n")
	for _, want := range []string{"known-9 (kept now and then only", "unknown (30 B, and git doesn't track it", "2 files with 28 B, such as theirs (beyond the first 4 B"} {
		if !strings.Contains(notes, want) {
			t.Errorf("nothing says %q:\n%s", want, notes)
		}
	}
	if !x.blind {
		t.Error("files that nobody can look at are no gap")
	}
}

// What becomes of a file is decided by its three versions; git is asked only where all three have a text of their own.
func TestWhatBecomesOfAFile(t *testing.T) {
	t.Parallel()
	none := version{}
	a, b, c := version{"100644", "a"}, version{"100644", "b"}, version{"100644", "c"}
	tool := version{"100755", "b"} // b, which can be executed
	link, module := version{symlink, "l"}, version{gitlink, "m"}
	for name, tt := range map[string]struct {
		mine, base, theirs, want version
		why                      string
	}{
		"nobody else changed it":                 {b, b, a, a, ""},
		"the iteration made it":                  {b, b, none, none, ""},
		"the iteration removed it":               {none, none, a, a, ""},
		"it is so already":                       {a, b, a, a, ""},
		"it was deleted since":                   {none, b, a, none, whyGone},
		"it was made anew since":                 {c, none, a, none, whyThere},
		"the iteration made it, and it was used": {c, b, none, none, whyNew},
		"it can be executed since":               {tool, b, a, version{"100755", "a"}, ""},
		"the iteration let it be executed":       {c, tool, b, c, ""},
		"it became a link since":                 {link, b, a, none, whyKind},
		"the iteration made a file of a link":    {c, b, link, none, whyKind},
		"a link that nobody else changed":        {b, b, link, link, ""},
		"a repository of its own":                {module, module, a, none, whySubmodule},
		"one that was there before":              {b, b, module, none, whySubmodule},
	} {
		got, why, err := new(restoration).merge(t.Context(), tt.mine, tt.base, tt.theirs)
		if err != nil || why != tt.why || why == "" && got != tt.want {
			t.Errorf("%s: %v, %q, %v; want %v, %q", name, got, why, err, tt.want, tt.why)
		}
	}
}
