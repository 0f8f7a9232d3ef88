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

// wrapBubblewrap makes cmd one that bubblewrap runs. release lets go of what has to stay until it
// is over.
func (w *mounts) wrapBubblewrap(cmd *exec.Cmd, run Run) (p *mountList, release func(), err error) {
	self, err := paths.Program(run.TempDir) // an update may have taken away the one that was started
	if err != nil {
		return nil, nil, &Error{cantRaise, "this program isn't to be found any more: " + err.Error(), "start the loop again"}
	}
	if self = real(self); within(self, real(run.TempDir)) {
		run.Readable = append(slices.Clone(run.Readable), self)
	}
	p, err = w.arguments(cmd.Dir, cmd.Path, run)
	if err != nil {
		return nil, nil, err
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
			return nil, nil, err
		}
		held, stage.Places = append(held, file), append(stage.Places, place)
	}
	cmd.Args = slices.Concat([]string{w.bwrap}, p.args, []string{"--", inner}, stage.Args(cmd.Path, cmd.Args))
	cmd.Path, cmd.Dir = w.bwrap, outside.Dir()
	if grouped.Group != "" {
		cmd.Args, cmd.Path = append([]string{"ralph-lsp"}, grouped.Args(cmd.Path, cmd.Args)...), "/proc/self/exe"
	}
	return p, func() {
		for _, file := range held {
			file.Close()
		}
	}, nil
}
