package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// asked are the versions of the modules that a go.mod or a go.work names.
func asked(t *testing.T, name string) map[string]string {
	t.Helper()
	text := must.Read(t, filepath.Join(root, name))
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:\t|replace )(\S+\.\S+/\S+) (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2]
	}
	if len(all) == 0 {
		t.Fatalf("%s names no module", name)
	}
	return all
}

// In a workspace an import of the fleet compiles anywhere, and go.mod's own versions give way to higher ones next door.
func TestTheFleetIsNextDoor(t *testing.T) {
	for room, arrows := range picture.Arrows {
		for _, arrow := range arrows {
			if !matches("fleet/...", room) && matches("fleet/...", arrow) {
				t.Errorf("%s may import %s, which is in a module that nothing outside of it knows", room, arrow)
			}
		}
	}
	ours, fleets := asked(t, "go.mod"), asked(t, "fleet/go.mod")
	for module, version := range ours {
		if strings.Contains(module, "nats-io") || strings.Contains(module, "prometheus") {
			t.Errorf("go.mod names %s, which is for the fleet alone", module)
		}
		if other, isBoths := fleets[module]; isBoths && other != version {
			t.Errorf("go.mod has %s %s, and fleet/go.mod %s: give both the same", module, version, other)
		}
	}
	if of, here := fleets[picture.Module], asked(t, "go.work")[picture.Module]; of == "" || of != here {
		t.Errorf("fleet/go.mod asks for ralph-lsp %q, and go.work has this checkout in the place of %q", of, here)
	}
}
