// Package handles tests that a loop is commanded in the same way wherever it runs.
package handles

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }
