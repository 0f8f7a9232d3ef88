//go:build unix

package awake

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// tool makes a program of the tool's name that says which process it is, and what it was told.
func tool(t *testing.T, script string) (said string) {
	t.Helper()
	dir := t.TempDir()
	said = filepath.Join(dir, "said")
	for _, name := range []string{"systemd-inhibit", "caffeinate"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho $$ \"$@\" >>"+said+".new; mv "+said+".new "+said+"\n"+script+"\n"), 0o700))
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return said
}

func pidIn(t *testing.T, said string) int {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < proctest.Patience; proctest.Pause(begun) {
		if data, err := os.ReadFile(said); err == nil {
			pid, err := strconv.Atoi(strings.Fields(string(data))[0])
			if err != nil || strings.Count(string(data), "\n") != 1 || !strings.Contains(string(data), "cat") {
				t.Fatalf("%q, %v", data, err)
			}
			return pid
		}
	}
	t.Fatal("the tool wasn't started")
	return 0
}

func TestTheToolWorksBetweenHoldAndRelease(t *testing.T) {
	for name, script := range map[string]string{"that waits": "exec cat", "that hangs": "exec sleep 1000"} {
		t.Run(name, func(t *testing.T) {
			said := tool(t, script)
			var k Keeper
			k.Hold()
			k.Hold() // which changes nothing
			pid := pidIn(t, said)
			if err := syscall.Kill(pid, 0); err != nil {
				t.Errorf("it is gone: %v", err)
			}
			k.Release()
			if err := syscall.Kill(pid, 0); err == nil {
				t.Error("it is left")
			}
			k.Release()
			must.OK(t, os.Remove(said))
			k.Hold()
			pidIn(t, said)
			k.Release()
		})
	}
}

func TestWithoutAToolNothingHappens(t *testing.T) {
	for name, path := range map[string]string{"none": t.TempDir(), "one that can't": ""} {
		t.Run(name, func(t *testing.T) {
			if t.Setenv("PATH", path); path == "" {
				tool(t, "exit 1")
			}
			var k Keeper
			k.Hold()
			k.Release()
		})
	}
}
