package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A loop of an editor's calls its user by what the user has set; what fails there is a message.
func TestALoopOfAnEditorCallsItsUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	told := make(chan string, 2)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer hook.Close()
	must.Write(t, filepath.Join(home, "ralph-lsp", config.UserName), "[notify]\ncommand = [\"no-such-program-of-ours\"]\nwebhook = \""+hook.URL+"\"\n")
	c := dial(t, optedIn, t.TempDir())
	request := map[string]any{"prompt": "Tidy up", "backend": agentThat(t, "writes"), "maxIterations": 1}
	c.Must(c.Command(wire.CommandStart, request))
	if got := <-told; !strings.Contains(got, `"event":"end"`) || strings.Contains(got, "Tidy up") {
		t.Errorf("got %s", got)
	}
	c.Hears("window/showMessage", "command didn't notify you: ")
	if len(told) > 0 {
		t.Errorf("and %s", <-told)
	}
}
