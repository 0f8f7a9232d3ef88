package start

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// The user's budget is what the file says by now, each time that it was written.
func TestBudgetIsReadAgain(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir, err := config.UserDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	must.OK(t, err)
	now := Host().Budget
	for _, step := range []struct {
		text string
		want float64
	}{{"", 0}, {"[budget]\nper_day = 5.0\n", 5}, {"[budget]\nper_day = 12.0\n", 12}, {"", 0}} {
		file := filepath.Join(dir, config.UserName)
		os.Remove(file)
		if step.text != "" {
			must.OK(t, os.WriteFile(file, []byte(step.text), 0o600))
		}
		for range 2 { // what is unchanged says the same
			if limits, err := now(); err != nil || limits.PerDay != step.want {
				t.Errorf("%q: %+v, %v; want %v a day", step.text, limits, err, step.want)
			}
		}
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, config.UserName), []byte("budget = "), 0o600))
	for range 2 {
		if limits, err := now(); err == nil {
			t.Errorf("a broken file: %+v", limits)
		}
	}
}
