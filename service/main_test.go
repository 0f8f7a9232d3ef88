package service

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }
