package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// What a run makes for programs of the user's is told when it is over. The runs behind that, of this loop and of the
// next one, can't change it any more.
func TestWhatARunPlantsIsToldAndCannotChange(t *testing.T) {
	const evil = `echo evil >>.nvim.lua; git init -q sub 2>&1; git -C sub -c user.name=x -c user.email=x commit -q --allow-empty -m x; git add sub 2>&1; git -C sub config core.fsmonitor evil`
	walltest.Both(t, func(t *testing.T) {
		for _, isNewLoop := range []bool{false, true} {
			t.Run(fmt.Sprint(isNewLoop), func(t *testing.T) {
				p := newPlace(t)
				var told []string
				raised := func() *sandbox.Sandbox {
					walls := raise(t, sandbox.Spec{}, p.folder)
					walls.OnBreach(func(b sandbox.Breach) { told = append(told, strings.TrimPrefix(b.Path, p.folder+"/")) })
					return walls
				}
				walls := raised()
				if out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", evil); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				if slices.Sort(told); !slices.Equal(told, []string{".nvim.lua", "sub/.git"}) {
					t.Errorf("told %q", told)
				}
				must.OK(t, os.WriteFile(filepath.Join(p.folder, ".nvim.lua"), []byte("ours\n"), 0o644)) // the user has looked
				p.git(t, "-C", "sub", "config", "core.fsmonitor", "false")
				if isNewLoop {
					walls.Close()
					walls = raised()
				}
				p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "mv .nvim.lua x; mv sub/.git sub/git; mv sub sub2; "+evil)
				if contains(filepath.Join(p.folder, ".nvim.lua"), "evil") || contains(filepath.Join(p.folder, "sub", ".git", "config"), "evil") {
					t.Error("the second run changes it")
				}
			})
		}
	})
}
