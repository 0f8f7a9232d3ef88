package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

func TestWhichOpenFolderALoopIsOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app, plain, link := filepath.Join(dir, "app"), filepath.Join(dir, "plain"), filepath.Join(dir, "link")
	below := filepath.Join(app, "below")
	for _, path := range []string{below, plain} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(app, link); err != nil {
		t.Skip(err)
	}
	base := repoAt(t, app, "ours")
	for name, url := range map[string]string{"origin": "https://example.org/app.git", "fork": "git@example.org:me/app"} {
		gitIn(t, app, "remote", "add", name, url)
	}
	for name, tt := range map[string]struct {
		repo    string
		bundled bool // it came from a folder
		open    []string
		want    string
	}{
		"the folder itself":             {app, true, []string{plain, app}, app},
		"one below it was submitted":    {below, true, []string{app}, app},
		"one below it is open":          {app, true, []string{below}, below},
		"through a link":                {link, true, []string{link}, link},
		"another, whose name is longer": {app + "-2", true, []string{app}, ""},
		"an address":                    {"https://example.org/app", false, []string{app}, app},
		"the address of a second one":   {"git@example.org:me/app.git/", false, []string{app}, app},
		"another address":               {"https://example.org/other", false, []string{app}, ""},
		"a folder like the address":     {"https://example.org/app.git", true, []string{app}, ""},
		"a folder of the workers'":      {app, false, []string{app}, ""},
		"no repository is open":         {plain, true, []string{plain}, ""},
		"nothing is open":               {app, true, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := fleet.Record{Task: fleet.Task{Repo: tt.repo, Bundled: tt.bundled, Base: base}}
			if got := New(Options{}).origins.find(r, tt.open); got != tt.want {
				t.Errorf("it is of %q, want %q", got, tt.want)
			}
			r.Base = strings.Repeat("c0ffee00", 5)
			if got := New(Options{}).origins.find(r, tt.open); got != "" {
				t.Errorf("without the commit that it began with it is of %q", got)
			}
		})
	}
}

func TestWhatNoIterationHasChangedYet(t *testing.T) {
	r := loopOf("f1", fleet.Running)
	r.Repo = t.TempDir()
	r.Base = repoAt(t, r.Repo, "ours")
	d, s := connected(t, newBus(r))
	s.open(r.Repo)
	if _, _, err := d.Snapshots(t.Context(), "f1"); !errors.Is(err, changes.ErrNone) {
		t.Errorf("its changes: %v", err)
	}
	_, err := d.Fetch(t.Context(), "f1")
	if f := (*wire.Failure)(nil); !errors.As(err, &f) || f.Reason != wire.ReasonNoSnapshots {
		t.Errorf("its branch: %v", err)
	}
}

func TestTheDoctorAsksForTheBus(t *testing.T) {
	d, _ := connected(t, newBus(loopOf("f1", fleet.Queued), loopOf("f2", fleet.Queued)))
	if c := d.Check(t.Context()); !c.OK || c.Message != "the bus nats://bus answers, with 2 loops" {
		t.Errorf("one that is there: %+v", c)
	}
	away := New(Options{Name: "nats://bus"})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if c := away.Check(over); c.OK || !c.Optional || !strings.Contains(c.Message, "context canceled") {
		t.Errorf("one that is dialled yet: %+v", c)
	}
	away.away(fmt.Errorf("nobody listens"))
	if c := away.Check(t.Context()); c.OK || !c.Optional || !strings.Contains(c.Message, "the bus nats://bus can't be reached: nobody listens") || c.Fix == "" {
		t.Errorf("one that is away: %+v", c)
	}
}
