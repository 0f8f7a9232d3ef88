package setup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/everyfield"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// All that a start is configured with arrives in the process that drives the loop.
func TestAConfigurationArrivesWhole(t *testing.T) {
	var c Config
	for _, fault := range everyfield.Fill(&c, ".planned") { // which the process that drives the loop finds out for itself
		t.Error(fault)
	}
	if t.Failed() {
		return
	}
	arrives(t, c)
}

// Empty isn't none, and false isn't unsaid.
func TestNothingIsTakenForSomethingElse(t *testing.T) {
	var c Config
	arrives(t, c)
	c.Values.Instruct, c.Args, c.Backend.Hooks.Off = new(false), []string{}, []string{}
	c.Folder, c.Prompt = "/caf\xe9", "a\x00b\u2028</script>\ufffd"
	arrives(t, c)
	for _, name := range backends.Names() {
		b, err := backends.Lookup(name)
		must.OK(t, err)
		c.Backend = b
		arrives(t, c)
	}
	c.Backend = backends.Custom("/bin/x", []string{"-y"}, backends.PromptFile, decode.FormatText)
	arrives(t, c)
}

// What can't be read is told without a word of what it says.
func TestABrokenConfigurationIsNotPrinted(t *testing.T) {
	for _, data := range []string{"", `{"Prompt": "secret`, `{"Prompt": ["secret"]}`, `{"Args": "secret"}`, `{"Limits": "secret"}`} {
		if _, err := Decode([]byte(data)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func arrives(t *testing.T, c Config) {
	t.Helper()
	data, err := c.Encode()
	must.OK(t, err)
	if strings.ContainsRune(string(data), '\n') {
		t.Errorf("it isn't one line: %q", data)
	}
	got, err := Decode(data)
	must.OK(t, err)
	if diff := cmp.Diff(c, got, cmp.AllowUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

// A keeper whose program was replaced since its window began reads what that has written: keys stay though fields are renamed.
func TestAKeeperOfAnotherVersionReadsAConfiguration(t *testing.T) {
	c, err := Decode([]byte(`{"Said":{"plan":"PLAN.md","notes":"notes.md"},"OfferWalls":true}`))
	must.OK(t, err)
	if c.Values.Plan != "PLAN.md" || c.Values.Notes != "notes.md" || !c.OfferSandbox {
		t.Errorf("it reads %+v, %t", c.Values, c.OfferSandbox)
	}
}
