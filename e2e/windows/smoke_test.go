//go:build smoke

package windows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// patience bounds every wait for a real process; reaching it fails the test.
const patience = proctest.Patience

// wine runs a program of Windows; nil on Windows. WINEPREFIX is its disk.
var wine []string

// built has ralph-lsp.exe, and agent.exe, which is this test.
var built string

func TestMain(m *testing.M) {
	if role := os.Getenv(roleKey); role != "" {
		play(role)
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "smoke")
		if err == nil {
			defer os.RemoveAll(dir)
			built = dir
			err = build()
		}
		if err == nil && runtime.GOOS != "windows" {
			wine = []string{os.Getenv("RALPH_WINE")}
			err = lendRandomness(filepath.Join(os.Getenv("WINEPREFIX"), "drive_c", "windows", "system32"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

func build() error {
	for _, args := range [][]string{
		{"build", "-o", filepath.Join(built, "ralph-lsp.exe"), "../../cmd/ralph-lsp"},
		{"test", "-tags", "smoke", "-c", "-o", filepath.Join(built, "agent.exe"), "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// scene is a folder with a loop, whose processes are told from all others by the name of their program.
type scene struct {
	*testing.T
	dir, home string
	agent     string // the name of its program's file
}

var scenes int

// newScene has paths with spaces and more than ASCII. The agent does what the mode says.
func newScene(t *testing.T) *scene {
	t.Helper()
	root, err := os.MkdirTemp(built, "Träger mit Leerraum ")
	must.OK(t, err)
	scenes++
	s := &scene{T: t, dir: filepath.Join(root, "Ordner ü"), home: filepath.Join(root, "Zuhause")}
	s.agent = fmt.Sprintf("agent %d %d.exe", os.Getpid(), scenes)
	for _, dir := range []string{s.dir, s.home} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	must.OK(t, os.Link(filepath.Join(built, "agent.exe"), filepath.Join(s.dir, s.agent)))
	t.Cleanup(func() {
		for _, pid := range s.alive() {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(s.home, "*", "*", "*.log"))
			for _, log := range logs {
				data, _ := os.ReadFile(log)
				t.Logf("%s: %s", log, data)
			}
		}
	})
	return s
}

// win is a path as the program knows it.
func win(path string) string {
	if wine == nil {
		return path
	}
	return "Z:" + strings.ReplaceAll(path, "/", `\`)
}

// command is ralph-lsp in the scene's folder.
func (s *scene) command(args ...string) *exec.Cmd {
	line := append(append([]string{}, wine...), append([]string{win(filepath.Join(built, "ralph-lsp.exe"))}, args...)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+win(s.home), "XDG_STATE_HOME=", "LC_ALL=C.UTF-8",
		"APPDATA="+win(s.home), "LOCALAPPDATA="+win(s.home), "USERPROFILE="+win(s.home))
	return cmd
}

// process is a command that runs, with what it has said.
type process struct {
	*scene
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// start starts a command, as the agent of which plays the role.
func (s *scene) start(role string, args ...string) *process {
	s.Helper()
	p := &process{scene: s, cmd: s.command(args...), done: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, roleKey+"="+role)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.WaitDelay = 5 * time.Second
	p.in, _ = p.cmd.StdinPipe()
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	s.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
		if s.Failed() {
			s.Logf("%v:\n%s", args, p.said())
		}
	})
	return p
}

// run starts a loop with such an agent.
func (s *scene) run(role string, more ...string) *process {
	s.Helper()
	return s.start(role, append([]string{"run", "Tu es", "--backend", `.\` + s.agent, "--output", "json", "--max-iterations", "3", "--completion-promise", "DONE"}, more...)...)
}

// ends waits for the end of a command, and wants that exit code.
func (p *process) ends(want int) {
	p.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.Fatalf("it doesn't end: %s", p.said())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != want && want >= 0 {
		p.Errorf("exit code %d, want %d: %s", got, want, p.said())
	}
}

// alive lists the processes of the scene's agents, of all of its runs.
func (s *scene) alive() (pids []int) {
	s.Helper()
	if wine == nil {
		out, err := exec.Command("tasklist", "/fo", "csv", "/nh", "/fi", "IMAGENAME eq "+s.agent).Output()
		if err != nil {
			s.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Split(line, `","`); len(fields) > 1 {
				if pid, err := strconv.Atoi(fields[1]); err == nil {
					pids = append(pids, pid)
				}
			}
		}
		return pids
	}
	return matching(`\` + s.agent + "\x00")
}

// matching lists the processes of Linux whose command line has a text, but for those that are told of an agent.
func matching(text string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && bytes.Contains(line, []byte(text)) && !bytes.Contains(line, []byte("--backend")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// itself is the agent alone, which has no argument.
func (s *scene) itself() int {
	s.Helper()
	for _, pid := range s.alive() {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.HasSuffix(bytes.TrimRight(line, "\x00"), []byte(s.agent)) {
			return pid
		}
	}
	s.Fatal("the agent isn't there")
	return 0
}

// await waits until so many of them live.
func (s *scene) await(want int) {
	s.Helper()
	for begun := time.Now(); ; proctest.Pause(begun) {
		got := len(s.alive())
		if got == want {
			return
		}
		if time.Since(begun) > patience {
			s.Fatalf("%d processes of the agent live, want %d", got, want)
		}
	}
}

// family is an agent, its child, and a detached grandchild whose parent has ended.
const family = 3

// works waits until the agent and all that it starts run.
func (s *scene) works() {
	s.Helper()
	proctest.Until(s, "the agent is at work", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "at work"))
		return err == nil
	})
	s.await(family)
}

// survivors counts who is left after an end: the system ends a job's processes in its own time.
func (s *scene) survivors() {
	s.Helper()
	left := s.alive()
	for begun := time.Now(); len(left) > 0 && time.Since(begun) < patience; left = s.alive() {
		proctest.Pause(begun)
	}
	if testing.Verbose() {
		fmt.Printf("%-60s %d\n", strings.ReplaceAll(strings.TrimPrefix(s.Name(), "TestNobodySurvives/"), "_", " "), len(left))
	}
	if len(left) > 0 {
		s.Errorf("%d processes survive: %v", len(left), left)
	}
}

// now runs a command to its end, and wants that exit code.
func (s *scene) now(want int, args ...string) string {
	s.Helper()
	p := s.start("none", args...)
	p.in.Close()
	p.ends(want)
	return p.said()
}

// sidecar is ralph-lsp --stdio with a loop at work.
func (s *scene) sidecar() *process {
	s.Helper()
	p := s.start("hangs", "--stdio")
	uri := (&url.URL{Scheme: "file", Path: "/" + strings.ReplaceAll(win(s.dir), `\`, "/")}).String()
	p.request(1, "initialize", map[string]any{"processId": nil, "rootUri": uri, "workspaceFolders": []any{map[string]any{"uri": uri, "name": "x"}}, "capabilities": map[string]any{}})
	p.request(0, "initialized", map[string]any{})
	p.request(2, "workspace/executeCommand", map[string]any{"command": "ralph.loop.start", "arguments": []any{map[string]any{
		"folder": uri, "prompt": "Tu es", "backend": `.\` + s.agent, "maxIterations": 3}}})
	return p
}

func (p *process) request(id int, method string, params any) {
	p.Helper()
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id > 0 {
		message["id"] = id
	}
	body, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(p.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if err != nil {
		p.Fatal(err)
	}
	if id > 0 {
		proctest.Until(p.T, "an answer to "+method, func() bool { return strings.Contains(p.said(), fmt.Sprintf(`"id":%d`, id)) })
	}
}

// keeperOf is the process in which a loop goes on alone.
func (s *scene) keeperOf() int {
	s.Helper()
	var pids []int
	proctest.Until(s.T, "a keeper", func() bool {
		pids = nil
		for _, pid := range matching("ralph-lsp.exe") {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if bytes.Contains(line, []byte("keeper\x00--trusted")) && bytes.Contains(line, []byte(win(s.dir))) {
				pids = append(pids, pid)
			}
		}
		return len(pids) == 1
	})
	return pids[0]
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	must.OK(t, err)
}
