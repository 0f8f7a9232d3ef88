// Package note is the command by which runs of a loop, and its user, leave word for later runs.
package note

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/notes"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// maxNote is the longest note, in characters.
const maxNote = 2000

// New is the command; inFolder gives a command -C, and runs it with the folder that it names.
func New(inFolder func(*cobra.Command, func(cmd *cobra.Command, dir string, args []string) error) *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "note [TEXT...]",
		Short: "Leave word for later runs of the loop, or show what others left",
		Long: `Add a line to the notes of the loop in the folder, which each later run is told; without
TEXT, print them. A loop has notes when it was started with --notes FILE, or notes in
ralph.toml. Agents leave them as well.`,
		Example:     `  ralph-lsp note "The parser's tests need LANG=C"`,
		Annotations: map[string]string{cli.TakesText: "note"},
	}
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		_, state, err := loop.StateIn(dir)
		name := state.Notes
		if err != nil || name == "" { // one that is to start
			settings, _ := config.FilesOf(dir, backends.Names()).Load()
			name = settings.Loop.Notes
		}
		if name == "" {
			return errors.New("the loop here has no notes; start one with --notes FILE, or say notes = \"FILE\" in ralph.toml")
		}
		if len(args) == 0 {
			text, err := notes.Read(dir, name, notes.MaxFile)
			fmt.Fprint(cmd.OutOrStdout(), stream.Sanitize(text))
			return err
		}
		note := stream.Line(strings.Join(args, " "), maxNote)
		if note == "" {
			return errors.New("the note is empty")
		}
		by := "user"
		if n := os.Getenv(backends.EnvIteration); n != "" {
			by = "iteration " + stream.Line(n, 10)
		}
		return notes.Add(cmd.Context(), dir, name, fmt.Sprintf("- %s, %s: %s", time.Now().UTC().Format("2006-01-02 15:04Z"), by, note))
	})
}
