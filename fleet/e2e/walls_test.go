//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// spy is an agent that looks for what leads to the bus, and says what it found.
const spy = `#!/bin/sh
{
	cat %[1]q
	cat /proc/[0-9]*/environ | tr '\0' '\n' | grep RALPH_TOKEN
	RALPH_TOKEN= %[2]q status --bus nats://%[3]s && echo reached the bus
} >seen 2>&1
echo '<promise>DONE</promise>'
`

func TestAgentsCantReachTheBus(t *testing.T) {
	walltest.Need(t)
	w := newWorld(t)
	visible, err := os.MkdirTemp("/var/tmp", "ralph-fleet-") // behind walls the temporary folder is another one
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(visible)
	secret, fleet, program := filepath.Join(visible, "secret"), filepath.Join(visible, "ralph-fleet"), filepath.Join(w.dir, "spy")
	binary, err := os.ReadFile(filepath.Join(programs, "ralph-fleet"))
	if err := errors.Join(err, os.WriteFile(secret, []byte(token+"\n"), 0o600), os.WriteFile(fleet, binary, 0o700)); err != nil {
		t.Fatal(err)
	}
	w.write("spy", fmt.Sprintf(spy, secret, fleet, w.addr))
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	submit := func(name string, flags ...string) {
		w.must(append([]string{"submit", "--repo", w.repo, "--name", name, "--backend", program, "--completion-promise", "DONE", "look"}, flags...)...)
	}
	seen := func(name string) string {
		w.until("the end of "+name, func() bool { return w.status()[name].StopReason == "promise" })
		branch := strings.Fields(w.must("fetch", name, "--into", w.repo))[1]
		return w.git("-C", w.repo, "show", branch+":seen")
	}
	w.worker("walled", 1, w.addr, long, "--sandbox", "workspace", "--token-file", secret)
	submit("inside")
	if found := seen("inside"); strings.Contains(found, token) || strings.Contains(found, "reached the bus") || !strings.Contains(found, "wants a token") {
		t.Errorf("behind walls the agent found:\n%s", found)
	}
	submit("outside", "--sandbox", "off", "--on", "gpu,os="+runtime.GOOS)
	submit("nowhere", "--on", "gpu,os=none")
	w.until("a word on why it waits", func() bool {
		return strings.Contains(w.status()["outside"].Text, "it needs a worker without walls")
	})
	w.worker("open", 1, w.addr, long, "--label", "gpu")
	if found := seen("outside"); !strings.Contains(found, token) { // else the looking would prove nothing
		t.Errorf("without walls the agent found only:\n%s", found)
	}
	if s := w.status(); s["outside"].Host != "open" || s["nowhere"].Attempt != 0 {
		t.Errorf("they ran at %+v", s)
	}
	w.until("a word on what no worker has", func() bool { return strings.Contains(w.status()["nowhere"].Text, "it needs gpu, os=none") })
}
