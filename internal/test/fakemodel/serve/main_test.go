package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

func TestServeNamesTheScriptThatIsWrong(t *testing.T) {
	script := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(script, []byte(`{"turn":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := serve(script, "", "127.0.0.1:0", false, true)
	if err == nil || !strings.Contains(err.Error(), script) || !strings.Contains(err.Error(), `"turn"`) {
		t.Errorf("error %v", err)
	}
}

func TestLogHasBodiesWhenAsked(t *testing.T) {
	for _, bodies := range []bool{false, true} {
		var log bytes.Buffer
		logger(&log, bodies)(fakemodel.Request{Seq: 7, Outcome: "ok", Body: []byte(`{"model":"m"}`)})
		var line struct {
			Seq     int
			Outcome string
			Body    struct{ Model string }
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%v in %s", err, log.String())
		}
		if line.Seq != 7 || line.Outcome != "ok" || (line.Body.Model == "m") != bodies {
			t.Errorf("bodies %v: %s", bodies, log.String())
		}
	}
}
