package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// BenchmarkLoops lists 3,000 loops that ended lately: in one folder, in twenty, and each in its own.
func BenchmarkLoops(b *testing.B) {
	for _, folders := range []int{1, 20, 3000} {
		b.Run(fmt.Sprint(folders), func(b *testing.B) {
			b.Setenv(paths.EnvState, b.TempDir())
			root := paths.Real(b.TempDir())
			for i := range 3000 {
				folder := filepath.Join(root, fmt.Sprint(i%folders))
				must.OK(b, os.MkdirAll(folder, 0o700))
				e := registry.Entry{LoopID: fmt.Sprintf("ralph-%d", i), Folder: folder, Title: "Build it", Prompt: strings.Repeat("Build it well. ", 60), Iteration: 3,
					StartedAt: time.Now(), EndedAt: time.Now(), End: []byte(`{"stopReason":"max_iterations","iterations":3,"limit":3,"duration":28695509,"changes":{"files":1,"added":1,"removed":0},"prompt":"Build the thing"}`)}
				if i >= 3000-folders { // the last one of each folder can go on
					e.State = "---\nactive: true\niteration: 4\nmax_iterations: 3\ncompletion_promise: null\nstarted_at: \"2026-11-29T11:41:47Z\"\nloop_id: \"" + e.LoopID + "\"\nbackend: \"mine\"\nmax_duration: \"4h\"\n---\n\n" + e.Prompt
				}
				must.OK(b, registry.Set(e))
			}
			for name, loops := range map[string]func() []loop.Status{"once": new(Service).Loops, "again": new(Lister).Loops} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if n := len(loops()); n == 0 {
							b.Fatal(n)
						}
					}
				})
			}
		})
	}
}
