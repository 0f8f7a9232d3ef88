package server

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/keeper"
	keepers "github.com/ralph-lsp/ralph-lsp/keeper/client"
)

// roleEnv names what the test binary plays when it is started as another program.
const roleEnv = "RALPH_TEST_ROLE"

// roles are the programs that the test binary plays: agents that a script can't be. Those of
// testdata/agents start in a tenth of the time that this binary takes.
var roles = map[string]func(){
	// waits works until there is a file "go" in its folder.
	"waits": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("working")
		for begun := time.Now(); ; proctest.Pause(begun) {
			if _, err := os.Stat("go"); err == nil {
				return
			}
		}
	},
	// asks wants to push, in claude's words, and leaves in its folder what it is told.
	"asks": func() {
		lines := bufio.NewScanner(os.Stdin)
		if lines.Scan() { // else it is only asked for its version, wherever
			if err := os.WriteFile("pid", []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
				panic(err)
			}
		}
		fmt.Println(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}`)
		fmt.Println(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"t1"}}`)
		if !lines.Scan() {
			return
		}
		if err := os.WriteFile("told", lines.Bytes(), 0o600); err != nil {
			panic(err)
		}
		fmt.Println(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"Well."}`)
	},
	// counts has a tool print 50,000 lines, in pi's words.
	"counts": func() {
		io.Copy(io.Discard, os.Stdin)
		var lines strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&lines, "line %d\\n", i+1)
		}
		fmt.Println(`{"type":"tool_execution_start","toolCallId":"t1","toolName":"bash","args":{"command":"count"}}`)
		fmt.Println(`{"type":"tool_execution_end","toolCallId":"t1","isError":false,"result":{"content":[{"type":"text","text":"` + lines.String() + `"}]}}`)
	},
}

func TestMain(m *testing.M) {
	if keepers.IsKeeper(os.Args) { // of a loop that a server in this binary has begun
		keeper.Main()
		return
	}
	if role := filepath.Base(os.Args[0]); roles[role] != nil && os.Getenv(roleEnv) == "" {
		os.Setenv(roleEnv, role)
	}
	_ = flag.Set("test.parallel", "8") // loops are waited for more than they compute
	testhome.Main(m, roleEnv, roles)
}

// agentThat returns a program that plays the role, as an agent.
func agentThat(t *testing.T, role string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("HOME"), role)
	plays, err := filepath.Abs(filepath.Join("testdata/agents", role))
	if roles[role] != nil {
		plays = os.Args[0]
	}
	if err := cmp.Or(err, os.Symlink(plays, program)); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return program
}
