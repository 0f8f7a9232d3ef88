//go:build e2e

package clients

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// roles are what the test binary plays when it is started under their names.
var roles = map[string]func() error{
	standIn: playAgent,
	tool:    playTool,
}

const (
	standIn = "pi"   // the agent, found on PATH as the real one would be
	tool    = "tool" // a program that the agent runs
)

// installStandIn makes the test binary available under the names of the roles.
func installStandIn(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for name := range roles {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

const (
	endless = "until I stop you"    // in the prompts of loops that somebody must stop
	patient = "when I say go-ahead" // of loops that aren't done before there is a file go-ahead
)

// playAgent writes what pi writes. With an endless prompt it leaves its process
// id in the file agent.pid, runs a tool, and waits for it for ever; with any
// other it does as it was told in the second iteration, with a patient one when
// it may.
func playAgent() error {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("0.80.3")
		return nil
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	fmt.Println(`{"type":"session","version":3,"id":"stand-in","cwd":"/"}`)
	if strings.Contains(string(prompt), endless) {
		say("Working.")
		return workForEver()
	}
	if os.Getenv("RALPH_ITERATION") == "2" {
		if strings.Contains(string(prompt), patient) {
			awaitGoAhead()
		}
		say(`All tests pass.\n\n<promise>DONE</promise>\n\nLOOP_COMPLETE`)
	} else {
		say("One test still fails.")
	}
	fmt.Println(`{"type":"agent_settled"}`)
	return nil
}

// awaitGoAhead waits for the file; the end of the test ends it otherwise.
func awaitGoAhead() {
	for begun := time.Now(); ; proctest.Pause(begun) {
		if _, err := os.Stat("go-ahead"); err == nil {
			return
		}
	}
}

// say writes a turn with a text and a cost; the text is as it stands in JSON.
func say(text string) {
	message := `{"role":"assistant","provider":"stand-in","model":"small","stopReason":"stop",` +
		`"content":[{"type":"text","text":"` + text + `"}],` +
		`"usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"total":0.01}}}`
	fmt.Printf(`{"type":"message_end","message":%s}`+"\n", message)
	fmt.Printf(`{"type":"turn_end","message":%s}`+"\n", message)
}

// workForEver runs the tool. The process id, and then the call, tell that all is up.
func workForEver() error {
	cmd := exec.Command(filepath.Join(filepath.Dir(os.Args[0]), tool))
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := fmt.Appendf(nil, "%d", os.Getpid())
	if err := os.WriteFile("agent.pid.new", pid, 0o600); err != nil {
		return err
	}
	if err := os.Rename("agent.pid.new", "agent.pid"); err != nil {
		return err
	}
	fmt.Println(`{"type":"tool_execution_start","toolCallId":"t1","toolName":"bash","args":{"command":"make forever"}}`)
	return cmd.Wait()
}

func playTool() error {
	time.Sleep(time.Hour)
	return nil
}
