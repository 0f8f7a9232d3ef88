package loop

import (
	"encoding/json"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }

func asJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	must.OK(t, err)
	return data
}
