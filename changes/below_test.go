package changes

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// A repository below the folder is in no snapshot, but what happens there is no "nothing".
func TestWhatHappensInARepositoryBelowIsSomething(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		for name, ignored := range map[string]string{"that git ignores": "api/\n", "that it doesn't": "\n"} {
			f := begin(t, "a", "1\n", ".gitignore", ignored)
			inner := &folder{t: t, dir: f.path("api")}
			inner.write("f", "1\n")
			inner.git("init", "-q", "-b", "main")
			inner.git("config", "user.name", "ann")
			inner.git("config", "user.email", "ann@localhost")
			inner.git("add", "-A")
			inner.git("commit", "-q", "-m", "first")
			f.open("ralph-test")
			taken := f.start()
			if want := "api/ (a repository of its own)"; !slices.Equal(taken.Notes, []string{want}) {
				t.Errorf("%s: it notes %q", name, taken.Notes)
			}
			last := taken.State
			isNews := func(n int, want bool) {
				t.Helper()
				taken, err := f.After(context.Background(), n)
				if f.must(err); (taken.Aside != last.Aside) != want || !want && taken.Blind && ignored != "\n" {
					t.Errorf("%s, iteration %d: %+v, before %+v", name, n, taken.State, last)
				}
				last = taken.State
			}
			isNews(1, false)
			inner.write("f", "2\n")
			isNews(2, true)
			inner.git("commit", "-q", "-a", "-m", "second")
			isNews(3, true)
			inner.git("commit", "-q", "--allow-empty", "-m", "third")
			isNews(4, true)
			for i := range smallFolder + 1 {
				inner.write(fmt.Sprintf("many/%d", i), "1\n")
			}
			taken, err := f.After(context.Background(), 5)
			if f.must(err); !taken.Blind {
				t.Errorf("%s: a large one is seen", name)
			}
		}
	})
}
