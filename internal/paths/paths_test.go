package paths

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestReal(t *testing.T) {
	dir := Real(t.TempDir())
	link := filepath.Join(dir, "link")
	must.OK(t, os.Symlink(dir, link))
	gone := filepath.Join(link, "gone")
	t.Chdir(dir)
	for path, want := range map[string]string{link: dir, dir: dir, gone: gone, ".": dir, "link": dir, "gone": filepath.Join(dir, "gone")} {
		if got := Real(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestStateOfAFolderThatGoes(t *testing.T) {
	t.Setenv(EnvState, "relative")
	users, err := State("changes")
	if err != nil || Own("changes") != "" || filepath.Base(filepath.Dir(users)) != "ralph-lsp" {
		t.Errorf("the user's is %s, %v", users, err)
	}
	dir := t.TempDir()
	t.Setenv(EnvState, dir)
	if own, err := State("changes"); err != nil || own != filepath.Join(dir, "changes") || Own("changes") != own {
		t.Errorf("its own is %s, %v", own, err)
	}
}

func TestWhatIsDoneOnceInAWhileIsDue(t *testing.T) {
	t.Setenv(EnvState, t.TempDir())
	mark, now := Own("swept"), time.Now()
	for _, tt := range []struct {
		done time.Duration // before now
		due  bool
	}{{time.Minute, false}, {2 * time.Hour, true}, {-2 * time.Hour, true}} {
		if !IsDue("swept", 0) {
			t.Fatal("it is never done")
		}
		must.OK(t, os.Chtimes(mark, now, now.Add(-tt.done)))
		if due := IsDue("swept", time.Hour); due != tt.due || IsDue("swept", time.Hour) {
			t.Errorf("%v after it was done: due %v, or due again at once", tt.done, due)
		}
	}
}

func TestRemoveAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	locked := filepath.Join(dir, "module")
	must.OK(t, os.MkdirAll(locked, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(locked, "f"), nil, 0o400))
	must.OK(t, os.Chmod(locked, 0o500))
	if err := RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

// What an os.Root says of a link that leads out isn't for people.
func TestOutside(t *testing.T) {
	dir := Real(t.TempDir())
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	there := Real(t.TempDir())
	for name, target := range map[string]string{"there": there, "nowhere": "/no/such/file", "near": "../none"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here:", err)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		_, err := root.Stat(name)
		if got, want := Outside(dir, name, err).Error(), filepath.Join(dir, name)+" is a link that leads out of the folder, to "+target+"; remove it, or name what is in the folder"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := root.Stat("none"); Outside(dir, "none", err) != err {
		t.Error("another failure is said otherwise")
	}
}
