package loop

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A window and the process of a loop may be of different versions: older ones call a promise by another name.
func TestAPatchIsUnderstoodByOtherVersions(t *testing.T) {
	done, six := "DONE", 6
	for name, tt := range map[string]struct {
		sent string
		want Patch
	}{
		"an older window":  {`{"maxIterations":6,"Prompt":null,"Promise":"DONE","Accept":true}`, Patch{Given: limits.Given{MaxIterations: &six, Promise: &done}, Accept: true}},
		"a window of ours": {`{"maxIterations":6,"completionPromise":"DONE"}`, Patch{Given: limits.Given{MaxIterations: &six, Promise: &done}}},
		"nothing of it":    {`{"maxIterations":6}`, Patch{Given: limits.Given{MaxIterations: &six}}},
	} {
		var q Request
		if err := json.Unmarshal([]byte(`{"do":"update","patch":`+tt.sent+`}`), &q); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, q.Patch); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		data, err := json.Marshal(q)
		must.OK(t, err)
		var older struct {
			Patch struct {
				MaxIterations *int
				Promise       *string
				Accept        bool
			}
		}
		must.OK(t, json.Unmarshal(data, &older))
		if diff := cmp.Diff([]any{tt.want.MaxIterations, tt.want.Promise, tt.want.Accept}, []any{older.Patch.MaxIterations, older.Patch.Promise, older.Patch.Accept}); diff != "" {
			t.Errorf("%s, by an older keeper: %s", name, diff)
		}
	}
	if data, err := json.Marshal(Request{Do: "pause"}); string(data) != `{"do":"pause"}` || err != nil {
		t.Errorf("%s, %v", data, err)
	}
}
