package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
)

// One that leads out is refused in words that say where it leads.
func TestAPlanThatLeadsOut(t *testing.T) {
	folder, out := t.TempDir(), filepath.Join(t.TempDir(), "plan.md")
	must.OK(t, os.WriteFile(out, []byte("- [ ] one\n"), 0o600))
	if err := os.Symlink(out, filepath.Join(folder, "PLAN.md")); err != nil {
		t.Skip("no links here:", err)
	}
	_, err := ReadPlan(folder, "PLAN.md")
	written := WritePlan(folder, plan.Plan{}, plan.Plan{Name: "PLAN.md", Data: []byte("x")})
	for _, err := range []error{err, written} {
		if err == nil || !strings.Contains(err.Error(), "leads out of the folder, to ") || strings.Contains(err.Error(), "escapes") {
			t.Error(err)
		}
	}
}

// A plan may be a link to a file of the folder: that is written, and the link stays.
func TestAPlanThatIsALink(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "docs", "plan.md"), filepath.Join(folder, "PLAN.md")
	must.OK(t, os.Mkdir(filepath.Dir(file), 0o700))
	for at, to := range map[string]string{link: "docs/now.md", filepath.Join(folder, "docs", "now.md"): "plan.md"} {
		if err := os.Symlink(to, at); err != nil {
			t.Skip("no links here:", err)
		}
	}
	must.OK(t, os.WriteFile(file, []byte("- [ ] one\n"), 0o640))
	was, err := ReadPlan(folder, "PLAN.md")
	must.OK(t, err)
	for _, text := range []string{"- [x] one\n", "- [x] one\n- [ ] two\n"} {
		want, err := plan.Parse(was.Name, []byte(text))
		if err == nil {
			err = WritePlan(folder, was, want)
		}
		got, _ := os.ReadFile(file)
		info, statErr := os.Lstat(file)
		if err != nil || string(got) != text || statErr != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%q is written as %q, %v, %v", text, got, info, err)
		}
		if to, err := os.Readlink(link); to != "docs/now.md" {
			t.Errorf("the link leads to %q, %v", to, err)
		}
		was = want
	}
}
