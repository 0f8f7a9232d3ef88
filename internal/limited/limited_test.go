package limited

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestWhatOneLoopKnowsAnotherKnows(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	dir := filepath.Join(t.TempDir(), "limited")
	one, other := Folder{dir}, Folder{dir}
	account := Account(nil, "claude")
	if got := other.Until(account, now); !got.IsZero() {
		t.Errorf("limited until %s before anybody asked", got)
	}
	until := now.Add(3 * time.Hour)
	one.Set(account, until)
	if got := other.Until(account, now); !got.Equal(until) {
		t.Errorf("limited until %s, want %s", got, until)
	}
	if got := other.Until(Account(nil, "pi"), now); !got.IsZero() {
		t.Errorf("another account is limited until %s", got)
	}
	if got := other.Until(account, until); !got.IsZero() {
		t.Errorf("limited until %s, which is over", got)
	}
	other.Set(account, time.Time{})
	if got := one.Until(account, now); !got.IsZero() {
		t.Errorf("limited until %s after it was asked", got)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, account), []byte("soon"), 0o600))
	if got := one.Until(account, now); !got.IsZero() {
		t.Errorf("limited until %s by a damaged file", got)
	}
	Folder{}.Set(account, until)
	if got := (Folder{}).Until(account, now); !got.IsZero() {
		t.Errorf("limited until %s without a folder", got)
	}
}

func TestWhoIsAnAccount(t *testing.T) {
	base := Account([]string{"ANTHROPIC_API_KEY=secret", "LANG=C", "HOME=/home/me"}, "claude", "--verbose")
	for name, c := range map[string]struct {
		environ []string
		agent   []string
		isSame  bool
	}{
		"in another order":         {[]string{"HOME=/home/me", "ANTHROPIC_API_KEY=secret"}, []string{"claude", "--verbose"}, true},
		"in another language":      {[]string{"HOME=/home/me", "ANTHROPIC_API_KEY=secret", "LANG=de"}, []string{"claude", "--verbose"}, true},
		"with another key":         {[]string{"HOME=/home/me", "ANTHROPIC_API_KEY=other"}, []string{"claude", "--verbose"}, false},
		"of another user":          {[]string{"HOME=/home/you", "ANTHROPIC_API_KEY=secret"}, []string{"claude", "--verbose"}, false},
		"with another model":       {[]string{"HOME=/home/me", "ANTHROPIC_API_KEY=secret"}, []string{"claude", "--verbose", "opus"}, false},
		"of another configuration": {[]string{"HOME=/home/me", "ANTHROPIC_API_KEY=secret", "CLAUDE_CONFIG_DIR=/x"}, []string{"claude", "--verbose"}, false},
	} {
		if got := Account(c.environ, c.agent...); (got == base) != c.isSame || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, and %s", name, got, base)
		}
	}
}
