package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A stranger's file may tighten what the user set, and loosen nothing.
func TestAFolderThatIsNotTrustedLoosensNothing(t *testing.T) {
	tests := []struct {
		name, folder, user string
		held               []string // "KEY = VALUE|what counts"
	}{
		{"stricter limits", "[limits]\nmax_iterations = 3\nmax_cost_usd = 1\nmax_duration = \"1h\"\nidle_timeout = \"1m\"\ntool_timeout = \"2m\"\nmax_consecutive_failures = 2\nmax_unchanged_iterations = 4\nmax_unknown_cost_runs = 2\n", "limits.max_cost_usd = 2", nil},
		{"the same limits in other words", "[limits]\nmax_duration = \"240m\"\nmax_cost_usd = 2\n", "limits.max_cost_usd = 2.0", nil},
		{"no limits", "[limits]\nmax_iterations = 0\nmax_cost_usd = 0\nmax_duration = \"0\"\nidle_timeout = \"0\"\ntool_timeout = \"0\"\nmax_consecutive_failures = 0\nmax_unchanged_iterations = 0\nmax_unknown_cost_runs = 0\n", "limits.max_cost_usd = 2",
			[]string{"limits.idle_timeout = \"0\"|\"10m\"", "limits.max_consecutive_failures = 0|5", "limits.max_cost_usd = 0|2", "limits.max_duration = \"0\"|\"4h\"", "limits.max_iterations = 0|50", "limits.max_unchanged_iterations = 0|5", "limits.max_unknown_cost_runs = 0|3", "limits.tool_timeout = \"0\"|\"1h\""}},
		{"looser limits", "[limits]\nmax_iterations = 51\nmax_cost_usd = 2.01\nmax_duration = \"241m\"\n", "limits.max_cost_usd = 2",
			[]string{"limits.max_cost_usd = 2.01|2", "limits.max_duration = \"241m\"|\"4h\"", "limits.max_iterations = 51|50"}},
		{"a limit where the user has none", "limits.max_iterations = 9", "limits.max_iterations = 0", nil},
		{"no budget where the user has none", "limits.max_cost_usd = 0", "", nil},
		{"an agent where the user names none", "backend = \"pi\"", "", nil},
		{"the user's agent", "backend = \"pi\"", "backend = \"pi\"", nil},
		{"another agent than the user's", "backend = \"pi\"", "backend = \"claude\"", []string{"backend = \"pi\"|\"claude\""}},
		{"no history", "history.enabled = false", "", []string{"history.enabled = false|true"}},
		{"history that the user doesn't want", "history.enabled = true", "history.enabled = false", []string{"history.enabled = true|false"}},
		{"an agent that asks", "permissions = \"ask\"", "", nil},
		{"an agent that doesn't ask the user who wants it", "permissions = \"agent\"", "permissions = \"ask\"", []string{"permissions = \"agent\"|\"ask\""}},
		{"a hat of its own", "hats.a.backend = \"pi\"", "hats.b.backend = \"pi\"", nil},
		{"the user's hat", "hats.a.backend = \"pi\"", "hats.a.backend = \"pi\"", nil},
		{"another hat than the user's", "hats.a.backend = \"pi\"", "hats.a.backend = { type = \"pi\", args = [\"--read-only\"] }", []string{"hats.a.backend = \"pi\"|"}},
		{"walls where the user has none", "[sandbox]\nmode = \"workspace\"\nnetwork = \"off\"\nhide = [\".env\"]\nprotect = [\"*.pem\"]\n", "", nil},
		{"no walls where the user has some", "[sandbox]\nmode = \"off\"\nnetwork = \"on\"\nverify_network = \"on\"\n", "[sandbox]\nmode = \"workspace\"\nnetwork = \"off\"\n",
			[]string{"sandbox.mode = \"off\"|\"workspace\"", "sandbox.network = \"on\"|\"off\"", "sandbox.verify_network = \"on\"|\"off\""}},
		{"holes in the walls", "[sandbox]\nengine = \"sandbox-runtime\"\nwrite = [\"~/bin\"]\nread = [\"~/.config\"]\nhosts = [\"evil.example\"]\nenv = [\"TOKEN\"]\n", "sandbox.write = [\"~/.cache\"]",
			[]string{"sandbox.engine = \"sandbox-runtime\"|\"auto\"", "sandbox.env = [\"TOKEN\"]|[]", "sandbox.hosts = [\"evil.example\"]|[]", "sandbox.read = [\"~/.config\"]|[]", "sandbox.write = [\"~/bin\"]|[\"~/.cache\"]"}},
		{"the user's budget", "[budget]\nper_day = 1.0\nper_week = 1000.0\n[history]\nenabled = false\n", "budget.per_week = 20.0", []string{"budget.per_day = 1.0|0", "budget.per_week = 1000.0|20.0", "history.enabled = false|true"}},
		{"who answers for the user", "notify.reply = [\"x\"]\npermissions = \"agent\"\n", "permissions = \"ask\"", []string{"notify.reply = [\"x\"]|[]", "permissions = \"agent\"|\"ask\""}},
		{"what becomes of the user's windows", "loop.on_close = \"keep\"\npermissions = \"agent\"\n", "permissions = \"ask\"",
			[]string{"loop.on_close = \"keep\"|\"end\"", "permissions = \"agent\"|\"ask\""}},
		{"promise and rules", "[completion]\npromise = \"X\"\ninstruct = false\n", "completion.promise = \"DONE\"", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := place(t, tt.folder, tt.user)
			own, err := Files{UserDir: f.UserDir, Builtin: f.Builtin}.Load()
			must.OK(t, err)
			s := load(t, f)
			var held []string
			for _, h := range s.Held {
				held = append(held, h.Line+"|"+h.Counts)
				key, _, _ := strings.Cut(h.Line, " =")
				if s.Source(key) == FromFolder || s.Source(key) != own.Source(key) {
					t.Errorf("%s comes from %q", key, s.Source(key))
				}
				if !strings.Contains(s.HeldText(), h.Line+" is not taken") {
					t.Errorf("%s isn't told: %s", key, s.HeldText())
				}
			}
			if diff := cmp.Diff(tt.held, held); diff != "" {
				t.Fatal(diff)
			}
			if len(held) == 0 {
				if s.Trust != nil || s.HeldText() != "" {
					t.Errorf("got %v, %q", s.Trust, s.HeldText())
				}
				return
			}
			if !cmp.Equal(s.Limits(), own.Limits()) || s.Backend != own.Backend || s.History != own.History || !cmp.Equal(s.Hats, own.Hats) {
				t.Errorf("got %+v", s)
			}
			must.OK(t, s.Trust.Remember())
			s = load(t, f)
			if s.Trust != nil {
				t.Errorf("trusted, and it asks for trust: %v", s.Trust)
			}
			for _, h := range s.Held {
				if !strings.HasPrefix(h.Line, "loop.on_close = ") && !strings.HasPrefix(h.Line, "notify.reply = ") && !strings.HasPrefix(h.Line, "budget.") || !strings.Contains(s.HeldText(), "your own config.toml") || strings.Contains(s.HeldText(), "trust") {
					t.Errorf("trusted, and still held: %+v: %s", h, s.HeldText())
				}
			}
			if s.Budget != own.Budget {
				t.Errorf("a folder's file sets its user's budget: %+v", s.Budget)
			}
			if s.Loop.OnClose == "keep" {
				t.Error("a folder's file says what becomes of its user's windows")
			}
		})
	}
}

func TestWhoIsAskedForTrustSeesWhatElseWouldCount(t *testing.T) {
	f := place(t, "[limits]\nmax_cost_usd = 0\n[backends.claude]\nargs = []\n", "[limits]\nmax_cost_usd = 2\n[backends.claude]\nargs = [\"--disallowedTools=Bash\"]\n")
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{"backends.claude.args = []", "limits.max_cost_usd = 0"}, untrusted.Wants); diff != "" {
		t.Error(diff)
	}
}

// Each key of the table is one that a stranger may set, or says what happens then.
func TestEachKeyThatMayLoosenYields(t *testing.T) {
	for _, key := range Keys() {
		if key.Type != Table && key.Yields == 0 {
			t.Errorf("%s doesn't say who may set it", strings.Join(key.Path, "."))
		}
	}
}

func TestALinkOutOfTheFolderIsNotReadBeforeItIsTrusted(t *testing.T) {
	f := place(t, "", "")
	outside := filepath.Join(t.TempDir(), "secrets")
	must.Write(t, outside, "password = \"hunter2\"\n")
	name := filepath.Join(f.Folder, Name)
	os.Remove(name)
	must.OK(t, os.Symlink(outside, name))
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || strings.Contains(err.Error(), "password") || !strings.Contains(err.Error(), outside) {
		t.Fatalf("got %v", err)
	}
	must.OK(t, untrusted.Remember())
	if _, err := f.Load(); !errors.As(err, new(*InvalidError)) {
		t.Errorf("trusted: %v", err)
	}
	other := filepath.Join(t.TempDir(), "secrets")
	must.Write(t, other, "password = \"hunter2\"\n")
	os.Remove(name)
	must.OK(t, os.Symlink(other, name))
	if _, err := f.Load(); !errors.As(err, &untrusted) {
		t.Errorf("another target: %v", err)
	}
}

// Paths in the file are relative to the folder that it is read for.
func TestAFileThatIsTrustedInItsFolderIsNotTrustedThroughALink(t *testing.T) {
	f := place(t, demanding, "")
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || untrusted.Remember() != nil {
		t.Fatal(err)
	}
	other := Files{Folder: t.TempDir(), UserDir: f.UserDir, Builtin: f.Builtin}
	must.OK(t, os.Symlink(filepath.Join(f.Folder, Name), filepath.Join(other.Folder, Name)))
	if _, err := other.Load(); !errors.As(err, &untrusted) {
		t.Errorf("got %v", err)
	}
}

func TestALinkInTheFolderIsItsFile(t *testing.T) {
	f := place(t, "", "")
	must.Write(t, filepath.Join(f.Folder, "real.toml"), "limits.max_iterations = 3\n")
	os.Remove(filepath.Join(f.Folder, Name))
	must.OK(t, os.Symlink("real.toml", filepath.Join(f.Folder, Name)))
	if s := load(t, f); s.Limits().MaxIterations != 3 {
		t.Errorf("got %+v", s.Limits())
	}
	os.Remove(filepath.Join(f.Folder, Name))
	must.OK(t, os.Symlink("nowhere", filepath.Join(f.Folder, Name)))
	load(t, f)
}
