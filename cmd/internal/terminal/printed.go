package terminal

import (
	"io"
	"io/fs"
	"os"
)

// PrintedTo finds the files that this program prints into: those behind its outputs, and
// where such a one is a pipe, those of whoever reads it, such as tee. A loop's own output
// is no work of its agent's.
func PrintedTo(outputs ...io.Writer) func() []os.FileInfo {
	var readers readers
	return func() (files []os.FileInfo) {
		var pipes []*os.File
		for _, out := range outputs {
			f, ok := Unwrapped(out).(*os.File)
			if !ok {
				continue
			}
			switch info, err := f.Stat(); {
			case err != nil:
			case info.Mode().IsRegular():
				files = append(files, info)
			case info.Mode()&fs.ModeNamedPipe != 0:
				pipes = append(pipes, f)
			}
		}
		if len(pipes) > 0 {
			files = append(files, readers.behind(pipes)...)
		}
		return files
	}
}
