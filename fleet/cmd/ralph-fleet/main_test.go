package main

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "RALPH_FLEET_TEST_ROLE", nil) }
