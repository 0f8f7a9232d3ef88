package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// stageName is this program in a run's TMPDIR, for what is done inside before the run begins.
const stageName = ".ralph-lsp"

// wrap implements engine.
func (w *mounts) wrap(cmd *exec.Cmd, run Run) (wrapped, error) {
	self, err := paths.Program(run.TempDir) // an update may have taken away the one that was started
	if err != nil {
		return wrapped{}, &Error{cantRaise, "this program isn't to be found any more: " + err.Error(), "start the loop again"}
	}
	if self = real(self); within(self, real(run.TempDir)) {
		run.Readable = append(slices.Clone(run.Readable), self)
	}
	p, err := w.arguments(cmd.Dir, cmd.Path, run)
	if err != nil {
		return wrapped{}, err
	}
	inner := filepath.Join(run.TempDir, stageName)
	p.add("--ro-bind", self, inner)
	grouped, stage := w.stages()
	var held []*os.File
	for path := range p.pinned {
		if withinAny(path, p.hidden) {
			continue
		}
		file, place, err := numbers(path)
		if err != nil {
			p.owns.settle()
			return wrapped{}, err
		}
		held, stage.Places = append(held, file), append(stage.Places, place)
	}
	cmd.Args = slices.Concat([]string{w.bwrap}, p.args, []string{"--", inner}, stage.Args(cmd.Path, cmd.Args))
	cmd.Path, cmd.Dir = w.bwrap, outside.Dir()
	if grouped.Group != "" {
		cmd.Args, cmd.Path = append([]string{"ralph-lsp"}, grouped.Args(cmd.Path, cmd.Args)...), "/proc/self/exe"
	}
	return wrapped{owns: p.owns, fixed: p.fixed, hidden: p.hidden, release: func() {
		for _, file := range held {
			file.Close()
		}
	}}, nil
}
