package walltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// asUser is set where a test runs once more, as somebody who isn't root.
const asUser = "RALPH_TEST_AS_USER"

// ordinary is a user id that nobody has.
const ordinary = 12345

// Both runs a test as who we are and, where that is root, as an ordinary user as well: in a
// second process beside this one, as both wait more than they compute. Its output is told when it fails.
func Both(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	Need(t)
	if os.Getenv(asUser) != "" {
		test(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Run("as a user", test)
		return
	}
	user := userProcess(t)
	var said bytes.Buffer
	user.Stdout, user.Stderr = &said, &said
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	var failed error
	over := make(chan struct{})
	go func() {
		failed = user.Wait()
		close(over)
	}()
	t.Cleanup(func() { // where only the other part is wanted
		_ = user.Process.Kill()
		<-over
	})
	t.Run("as root", test)
	t.Run("as a user", func(t *testing.T) {
		if <-over; failed != nil {
			t.Errorf("%v\n%s", failed, said.String())
		}
	})
}

// userProcess is this test once more, as an ordinary user with a home of its own.
func userProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ralph-user-") // all folders above must be open to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, ordinary, ordinary); err != nil {
		t.Fatal(err)
	}
	binary := copied(t, os.Args[0], filepath.Join(dir, "test"))
	cmd := exec.Command(binary, "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.count=1")
	cmd.Dir = home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	cmd.Env = append(os.Environ(), asUser+"=yes", "HOME="+home, "TMPDIR="+home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=",
		"GOCACHE="+home, "GOMODCACHE="+home,
		"PATH="+reachable(t, dir)+":"+os.Getenv("PATH"))
	return cmd
}

func copied(t *testing.T, from, to string) string {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// loaded is a library, or the loader, in the words of ldd.
var loaded = regexp.MustCompile(`(?m)(?:=> )?(/\S+) \(0x`)

// reachable makes a folder with a bubblewrap that everybody may run: the one of PATH may lie
// where only root comes.
func reachable(t *testing.T, dir string) string {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := exec.Command("ldd", bwrap).Output()
	if err != nil {
		t.Fatal(err)
	}
	lib, bin := filepath.Join(dir, "lib"), filepath.Join(dir, "bin")
	for _, dir := range []string{lib, bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	loader := ""
	for _, m := range loaded.FindAllStringSubmatch(string(libraries), -1) {
		to := copied(t, m[1], filepath.Join(lib, filepath.Base(m[1])))
		if strings.HasPrefix(filepath.Base(m[1]), "ld-") {
			loader = to
		}
	}
	program := copied(t, bwrap, filepath.Join(lib, "bwrap"))
	script := "#!/bin/sh\nexec " + loader + " --library-path " + lib + " " + program + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(bin, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}
