package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// What a folder has for a check is offered before a start, with all that the start says.
func TestADryRunOffersTheFoldersOwnCheck(t *testing.T) {
	dir := configured(t, "")
	c := dial(t, optedIn, dir)
	given := map[string]any{"prompt": "x", "backend": agentThat(t, "never")}
	if got := c.dryRun(given); len(got.Offers) != 0 {
		t.Errorf("without any: %+v", got.Offers)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte("test:\n\ttrue\n"), 0o600))
	got := c.dryRun(given)
	if len(got.Offers) != 1 || got.Offers[0].Title != "Verify with make test (Makefile)" {
		t.Fatalf("got %+v", got.Offers)
	}
	if text, want := rowOf(got, "Verified by"), `nothing: the agent's word counts; --verify "make test" would verify it (there is Makefile)`; text != want {
		t.Errorf("got %q", text)
	}
	with, _ := got.Offers[0].Arguments[0].(map[string]any)
	if got := c.dryRun(with); got.Verify != "make test" || len(got.Offers) != 0 {
		t.Errorf("with what was offered: %q %+v", got.Verify, got.Offers)
	}
}
