package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestASettingIsWrittenWhereItsUserWouldPutIt(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"no file yet", "", "[sandbox]\nmode = \"workspace\"\n"},
		{"other settings", "backend = \"pi\" # mine", "backend = \"pi\" # mine\n\n[sandbox]\nmode = \"workspace\"\n"},
		{"the table", "[sandbox] # walls\nnetwork = \"off\"\n[limits]\n", "[sandbox] # walls\nmode = \"workspace\"\nnetwork = \"off\"\n[limits]\n"},
		{"the table at the end", "[sandbox]", "[sandbox]\nmode = \"workspace\""},
		{"the value", "[sandbox]\nmode = 'off' # for now\n", "[sandbox]\nmode = \"workspace\" # for now\n"},
		{"a dotted key", "sandbox.mode = \"off\"\n\n[limits]\n", "sandbox.mode = \"workspace\"\n\n[limits]\n"},
		{"an inline table with it", "sandbox = { mode = \"off\", network = \"off\" }\n", "sandbox = { mode = \"workspace\", network = \"off\" }\n"},
		{"already so", "[sandbox]\nmode = \"workspace\"\n", "[sandbox]\nmode = \"workspace\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := place(t, "", tt.before)
			if tt.before == "" {
				os.RemoveAll(f.UserDir)
			}
			file, err := f.SetOwn("sandbox", "mode", "workspace")
			must.OK(t, err)
			if got, _ := os.ReadFile(file); string(got) != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
			if s := load(t, f); !s.Sandbox.IsOn() {
				t.Error("it doesn't count")
			}
		})
	}
}

func TestAFileThatCannotBeWrittenToStaysAsItIs(t *testing.T) {
	for name, before := range map[string]string{"a mistake": "[limits]\nmax_iteration = 3\n", "an inline table without it": "sandbox = { network = \"off\" }\n", "half a file": "[sandbox\n"} {
		t.Run(name, func(t *testing.T) {
			f := place(t, "", before)
			file, err := f.SetOwn("sandbox", "mode", "workspace")
			if err == nil || !strings.Contains(err.Error(), `write mode = "workspace" below [sandbox] yourself`) {
				t.Errorf("got %v", err)
			}
			if got, _ := os.ReadFile(file); string(got) != before {
				t.Errorf("the file is %q now", got)
			}
		})
	}
}

func TestALinkToTheConfigurationStaysOne(t *testing.T) {
	f := place(t, "", "")
	own, kept := filepath.Join(f.UserDir, UserName), filepath.Join(t.TempDir(), "dotfile")
	os.Remove(own)
	must.OK(t, os.WriteFile(kept, []byte("backend = \"pi\"\n"), 0o644))
	if err := os.Chmod(kept, 0o644); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	if err := os.Symlink(kept, own); err != nil {
		t.Skip(err)
	}
	must.OK(t, must.Err(f.SetOwn("sandbox", "mode", "workspace")))
	got, _ := os.ReadFile(kept)
	if info, err := os.Lstat(own); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(string(got), "workspace") {
		t.Errorf("the link is %v, and what it leads to %q", info, got)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("its mode is %v now", info.Mode())
	}
}

func TestWhatWasOfferedIsNotOfferedAgain(t *testing.T) {
	f := Files{UserDir: filepath.Join(t.TempDir(), "new")}
	if f.WasOffered("sandbox") {
		t.Error("offered before the first time")
	}
	for range 2 {
		must.OK(t, f.RememberOffer("sandbox"))
	}
	if !f.WasOffered("sandbox") || f.WasOffered("box") {
		t.Error("the wrong offer is remembered")
	}
	if !(Files{}).WasOffered("sandbox") {
		t.Error("who can't be remembered would be asked at each start")
	}
}
