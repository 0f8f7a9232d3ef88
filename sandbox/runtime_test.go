package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestTheWordsOfSandboxRuntime(t *testing.T) {
	for line, want := range map[string]Refusal{
		"deny openat /etc/hosts":                                 {"/etc/hosts", "write"},
		"deny mkdirat /home/ann/a b":                             {"/home/ann/a b", "write"},
		"deny network-outbound example.com:443 (no rule)":        {"example.com:443", "reach"},
		"node(4711) deny(1) file-write-create /Users/ann/.zshrc": {"/Users/ann/.zshrc", "write"},
		"deny(1) file-read-data /Users/ann/.ssh/id_ed25519":      {"/Users/ann/.ssh/id_ed25519", "read"},
		"bash(12) deny(1) mach-lookup com.apple.SecurityServer":  {},
		"allowed": {},
	} {
		if got := refusalIn(line); got != want {
			t.Errorf("%q: got %+v", line, got)
		}
	}
}

// What the package is told is what bubblewrap is: no more may be written or read.
func TestTheSettingsOfSandboxRuntime(t *testing.T) {
	home, folder := real(t.TempDir()), real(t.TempDir())
	t.Setenv("HOME", home)
	must.OK(t, os.Mkdir(filepath.Join(home, ".agent"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(home, ".agent", "settings.json"), nil, 0o600))
	run := Run{TempDir: "/t", Agent: Agent{Own: []Own{{Path: "~/.agent", Read: []string{"settings.json"}}}}}
	has := func(list []literal, path string) bool { return slices.Contains(list, literal{path, true}) }
	for _, tt := range []struct {
		name  string
		spec  Spec
		check bool
		open  bool
		hosts string
	}{
		{"the network", Spec{Network: true}, false, true, ""},
		{"hosts", Spec{Network: true, Hosts: []string{"a.example", "*.b.example"}}, false, false, "a.example *.b.example"},
		{"no network, whatever the hosts", Spec{Hosts: []string{"a.example"}}, false, false, ""},
		{"the verification", Spec{Network: true}, true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &packaged{site: &site{spec: tt.spec, folder: folder, home: home}, tools: &tools{}}
			run.IsCheck = tt.check
			must.OK(t, w.lay())
			_, _, read, err := w.ownByVariable(run)
			must.OK(t, err)
			s := w.settings(run, "/bin/true", read, "/t/.refused/log")
			if s.Open != tt.open || s.Network.Strict == tt.open || strings.Join(s.Network.Allowed, " ") != tt.hosts {
				t.Errorf("network: %+v, open %v", s.Network, s.Open)
			}
			f := s.Files
			if !has(f.AllowWrite, folder) || !has(f.AllowWrite, "/t") || len(f.AllowWrite) != 2 {
				t.Errorf("writable: %+v", f.AllowWrite)
			}
			if !has(f.DenyRead, home) || !has(f.AllowRead, folder) || !has(f.AllowRead, filepath.Join(home, ".agent", "settings.json")) {
				t.Errorf("hidden: %+v but %+v", f.DenyRead, f.AllowRead)
			}
			for _, path := range []string{filepath.Join(folder, "ralph.toml"), filepath.Join(folder, ".pi"), "/t/.refused"} {
				if !has(f.DenyWrite, path) {
					t.Errorf("%s may be written: %+v", path, f.DenyWrite)
				}
			}
		})
	}
}

// A program that those inside could have put there would be run outside.
func TestTheToolsOfSandboxRuntimeAreNotTheirs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts")
	}
	theirs, ours := real(t.TempDir()), real(t.TempDir())
	for _, dir := range []string{theirs, ours} {
		for _, name := range []string{"srt", "node", "rg", "socat", "bwrap", "index.js"} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o700))
		}
	}
	isTheirs := func(path string) bool { return within(path, theirs) }
	t.Setenv("PATH", theirs)
	if _, err := findTools(isTheirs); err == nil || !strings.Contains(err.Error(), "the only srt in PATH is "+filepath.Join(theirs, "srt")+", where the agent may write") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", theirs+string(filepath.ListSeparator)+ours)
	if found, err := findTools(isTheirs); err != nil || filepath.Dir(found.node) != ours || filepath.Dir(found.index) != ours {
		t.Errorf("got %+v, %v", found, err)
	}
	must.OK(t, os.Remove(filepath.Join(ours, "index.js")))
	if _, err := findTools(isTheirs); err == nil || !strings.Contains(err.Error(), "is no program of @anthropic-ai/sandbox-runtime") {
		t.Errorf("another srt: %v", err)
	}
}

// The program that does nothing runs with the environment of this process, by node.
func TestTheWallsOfSandboxRuntimeAreTried(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts")
	}
	bin, folder := real(t.TempDir()), t.TempDir()
	for name, script := range map[string]string{"srt": "", "rg": "", "socat": "", "bwrap": "", "index.js": "", "node": "#!/bin/sh\n[ \"$TRIED\" = yes ] || { echo it fails >&2; echo more >&2; exit 1; }\n"} {
		must.OK(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700))
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := Check(t.Context(), Runtime); err == nil || !strings.Contains(err.Error(), "sandbox-runtime says: it fails; see the requirements of sandbox-runtime") || strings.Contains(err.Error(), "more") {
		t.Errorf("got %v", err)
	}
	t.Setenv("TRIED", "yes")
	walls, err := Raise(t.Context(), Spec{Mode: Workspace, Engine: Runtime}, folder)
	must.OK(t, err)
	left := filepath.Join(folder, placeholders[0])
	must.OK(t, os.WriteFile(left, nil, 0o600))
	if walls.Close(); exists(left) {
		t.Errorf("%s is left", left)
	}
}

// Once each, and a line of any length hides none behind it.
func TestWhatSandboxRuntimeHasSeenRefused(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := &packaged{site: &site{}, tools: &tools{logs: map[string]int64{log: 0}}}
	write := func(text string) {
		t.Helper()
		must.OK(t, os.WriteFile(log, []byte(text), 0o600))
	}
	long := strings.Repeat("x", 2<<20)
	whole := `"deny network-outbound a:1"` + "\n" + `"deny network-outbound ` + long + `"` + "\nno JSON\n" + `"deny network-outbound b:2 (no rule)"` + "\n"
	write(whole + `"deny network-outbound c`)
	if got, want := w.observed(), []Refusal{{"a:1", Reach}, {long, Reach}, {"b:2", Reach}}; !slices.Equal(got, want) {
		t.Errorf("%d are told: %.200v", len(got), got)
	}
	write(whole + `"deny network-outbound c:3"` + "\n")
	if got, want := w.observed(), []Refusal{{"c:3", Reach}}; !slices.Equal(got, want) {
		t.Errorf("then %.200v", got)
	}
}

// On a busy machine the package doesn't wait long enough for what it has started, and says so: it is tried again.
func TestSandboxRuntimeIsTriedAgain(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	for fails, want := range map[int]string{2: "ran\n", 9: "sandbox-runtime: Failed to create bridge sockets after 5 attempts\n"} {
		index := filepath.Join(t.TempDir(), "index.mjs")
		script := fmt.Sprintf(`let tries = 0;
export const SandboxManager = {
	initialize: async () => { if (tries++ < %d) throw new Error('Failed to create bridge sockets after 5 attempts'); },
	wrapWithSandbox: async (command) => command,
};`, fails)
		must.OK(t, os.WriteFile(index, []byte(script), 0o600))
		out, _ := exec.Command(node, "--input-type=module", "-e", runtimeScript, "--", index, "{}", "", "/bin/echo", "ran").CombinedOutput()
		if string(out) != want {
			t.Errorf("after %d failures it says %q, want %q", fails, out, want)
		}
	}
}
