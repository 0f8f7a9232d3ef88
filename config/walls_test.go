package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

func TestWallsAreOffUntilSomebodyWantsThem(t *testing.T) {
	want := sandbox.Spec{Mode: sandbox.Off, Network: true, Write: []string{}, Read: []string{}, Hide: []string{}, Protect: []string{}, Hosts: []string{}, Env: []string{}}
	if diff := cmp.Diff(want, Default().Sandbox); diff != "" {
		t.Error(diff)
	}
}

// What leads to the user's bus isn't there for who could have its workers run something.
func TestWhatLeadsToTheBusIsASecret(t *testing.T) {
	f := place(t, "", "")
	write := func(name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(f.UserDir, name), []byte(text), 0o600))
	}
	if got := load(t, f).Sandbox.Secrets; got != nil {
		t.Errorf("%q", got)
	}
	write(FleetName, "bus = \"nats://127.0.0.1:4222\"\ntoken_file = \"mine\"\n")
	want := []string{filepath.Join(f.UserDir, FleetName), filepath.Join(f.UserDir, "mine")}
	if got := load(t, f).Sandbox.Secrets; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv(EnvFleetSecrets, strings.Join([]string{"/token", "/key"}, string(filepath.ListSeparator)))
	want = append([]string{"/token", "/key"}, want...)
	if got := load(t, f).Sandbox.Secrets; !slices.Equal(got, want) {
		t.Errorf("with flags %q, want %q", got, want)
	}
	if f.UserDir = ""; !slices.Equal(load(t, f).Sandbox.Secrets, want[:2]) {
		t.Errorf("without a home %q, want %q", load(t, f).Sandbox.Secrets, want[:2])
	}
}

// What a folder hides and protects comes on top of what its user does.
func TestTheListsOfWallsAddUp(t *testing.T) {
	f := place(t, "[sandbox]\nhide = [\".env\", \"~/keys\"]\nprotect = [\"*.pem\"]\n", "[sandbox]\nmode = \"workspace\"\nhide = [\"~/keys\"]\nwrite = [\"~/.cache\"]\nread = [\"~/src\"]\n")
	s := load(t, f)
	want := sandbox.Spec{Mode: sandbox.Workspace, Network: true, Write: []string{"~/.cache"}, Read: []string{"~/src"}, Hide: []string{"~/keys", ".env"}, Protect: []string{"*.pem"}, Hosts: []string{}, Env: []string{}}
	if diff := cmp.Diff(want, s.Sandbox); diff != "" {
		t.Error(diff)
	}
	for _, v := range s.Values() {
		if v.Key == "sandbox.hide" && v.Text != `["~/keys", ".env"]` {
			t.Errorf("doctor would say %s = %s", v.Key, v.Text)
		}
	}
}

func TestWallsThatCannotStandAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`mode = "all"`:                     `sandbox.mode is "all"; write one of off, workspace`,
		`engine = "docker"`:                `write one of auto, bubblewrap, sandbox-runtime`,
		`network = false`:                  "write a text in quotes",
		`write = ["/"]`:                    "contains /, which is everything",
		`write = ["~/"]`:                   "which is everything",
		`write = ["../other"]`:             "leads out of the folder",
		`read = ["~"]`:                     "which is everything",
		`hide = ["~ann/x"]`:                "another user's home",
		`hide = ["*.pem"]`:                 "knows no patterns",
		`hide = ["."]`:                     "which is everything",
		`protect = ["["]`:                  "sandbox.protect",
		`hosts = ["https://example.com/"]`: "which is no host",
		`hosts = ["*"]`:                    "which is no host",
		`env = ["A=b"]`:                    "which is no variable's name",
	} {
		problems := Check([]byte("[sandbox]\n"+line+"\n"), nil)
		if len(problems) != 1 || problems[0].Severity != Error || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: got %+v, want %q", line, problems, want)
		}
	}
	fine := "[sandbox]\nwrite = [\"~/.cache/go-build\", \"/var/tmp/x\"]\nhide = [\".env\"]\nhosts = [\"*.npmjs.org\", \"api.anthropic.com:443\", \"127.0.0.1\", \"[::1]:80\", \"localhost\"]\nenv = [\"GOPRIVATE\", \"GO*\"]\n"
	if problems := Check([]byte(fine), nil); len(problems) > 0 {
		t.Error(problems)
	}
}
