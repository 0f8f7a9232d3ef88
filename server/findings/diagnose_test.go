package findings

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Whatever an editor says, it is read as something.
func FuzzDiagnosis(f *testing.F) {
	f.Add(`{"settled":true,"diagnostics":[{"uri":"file:///w/a.go","range":{"start":{"line":-5,"character":99999999999},"end":{}},"severity":1,"code":{"value":1},"message":"\u001b[2J"}],"seen":["file:///w/a.go","file:///w","x",""]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r wire.DiagnosticsResult
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		d := diagnosisOf("/w", &r)
		for _, e := range d.Errors {
			if e.Line < 1 || e.EndLine < e.Line || e.Column < 1 || !filepath.IsLocal(e.Path) || strings.ContainsAny(e.Message+e.Code+e.Source, "\x1b\n") {
				t.Errorf("%+v", e)
			}
		}
		got := verify.JudgeDiagnostics(verify.Diagnosis{}, d, []verify.Edit{{Path: "a.go", IsNew: true}})
		if strings.ContainsAny(got.Why, "\x1b\n") {
			t.Errorf("%q", got.Why)
		}
	})
}
