//go:build smoke

package windows

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// roleKey says in the environment what this test plays as a program of Windows.
const roleKey = "RALPH_SMOKE_ROLE"

// play plays an agent, or what it starts: a child, and a grandchild that is detached from all,
// whose parent has ended.
func play(role string) {
	switch {
	case role == "parent":
		begin("grandchild")
	case role == "child" || role == "grandchild":
		os.WriteFile("begun "+role, nil, 0o600)
		hang()
	case os.Getenv("RALPH_LOOP_ID") == "" && len(os.Args) > 1: // asked for its version
		fmt.Println("1.0")
	default:
		agent(role)
	}
}

func agent(role string) {
	prompt, _ := io.ReadAll(os.Stdin)
	for _, name := range []string{"begun child", "begun grandchild", "at work"} {
		os.Remove(name)
	}
	begin("child")
	begin("parent").Wait()
	for begun := time.Now(); !exists("begun child") || !exists("begun grandchild"); proctest.Pause(begun) {
	}
	os.WriteFile("at work", nil, 0o600)
	os.WriteFile("arguments", fmt.Appendf(nil, "%q", os.Args[1:]), 0o600)
	fmt.Println("Grüße,", strings.Contains(string(prompt), "Tu es"), filepath.Base(os.Args[0]))
	switch role {
	case "ends":
		fmt.Println("<promise>DONE</promise>")
	case "fails":
		os.Exit(3)
	case "polite": // says that it was asked to end
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt)
		<-asked
		os.WriteFile("asked politely", nil, 0o600)
	case "deaf":
		signal.Ignore(os.Interrupt)
		hang()
	default:
		hang()
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// begin starts this program in another role. A grandchild leaves its console, its group and, where it may, its job.
func begin(role string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for _, flags := range flagsOf(role) {
		cmd := exec.Command(self, role)
		cmd.Env = append(os.Environ(), roleKey+"="+role)
		cmd.SysProcAttr = flags
		if err = cmd.Start(); err == nil {
			return cmd
		}
	}
	panic(err)
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}
