package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
)

// Editors look for the program's name and its version as the first two words.
func TestBothWaysToAskForTheVersionBeginAlike(t *testing.T) {
	for _, ask := range []string{"version", "--version"} {
		root := &cobra.Command{Use: "ralph-fleet", RunE: func(*cobra.Command, []string) error { return nil }}
		cli.Versioned(root, "1.2.3")
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs([]string{ask})
		if err := root.Execute(); err != nil || strings.Join(strings.Fields(out.String())[:2], " ") != "ralph-fleet 1.2.3" {
			t.Errorf("%s: %q, %v", ask, out.String(), err)
		}
	}
	if cli.VersionOf("1.2.3") != "1.2.3" || cli.VersionOf("") == "" {
		t.Errorf("versions %q and %q", cli.VersionOf("1.2.3"), cli.VersionOf(""))
	}
}
