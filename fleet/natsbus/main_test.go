package natsbus

import (
	"testing"

	"ralph-lsp/internal/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }
