package desk

import (
	"testing"

	"ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }
