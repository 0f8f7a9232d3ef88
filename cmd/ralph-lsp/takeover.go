package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/orchestrator"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/config"
)

// maxNotes bounds how many lines are told about a file.
const maxNotes = 300

// takeOver writes what a file of ralph-orchestrator means in our words, and tells
// what isn't the same.
func takeOver(cmd *cobra.Command, dir, name string) error {
	data, err := readForeign(name)
	if err != nil {
		return err
	}
	result, err := orchestrator.Convert(data, backends.Names())
	if bad := (*orchestrator.Error)(nil); errors.As(err, &bad) {
		return &exitError{terminal.ExitFailed, terminal.Line(atLine(name, bad.Line) + " " + bad.Message)}
	}
	if err != nil {
		return err
	}
	if err := writeNew(cmd, dir, []newFile{{config.Name, result.Settings}}); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if result.Prompt != "" {
		if err := writeNew(cmd, dir, []newFile{{"PROMPT.md", []byte(result.Prompt)}}); err != nil {
			fmt.Fprintf(out, "the prompt of %s isn't taken over: %s\n", terminal.Line(name), terminal.Line(err.Error()))
		}
	}
	for i, n := range result.Notes {
		if i == maxNotes {
			fmt.Fprintf(out, "... and %d more like these\n", len(result.Notes)-i)
			break
		}
		fmt.Fprintln(out, terminal.Line(atLine(name, n.Line)+" "+n.Text))
	}
	for _, p := range config.Check(result.Settings, backends.Names()) {
		fmt.Fprintln(out, terminal.Line(atLine(config.Name, p.Line)+" "+p.Message))
	}
	prompt := result.PromptFile
	if !filepath.IsAbs(prompt) {
		prompt = filepath.Join(dir, prompt)
	}
	if _, err := os.Stat(prompt); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "there is no %s yet: write there what is to be done\n", terminal.Line(result.PromptFile))
	}
	if config.DrawHats(result.Settings, backends.Names()) != "" {
		fmt.Fprint(out, nextWithHats(dir))
	}
	return nil
}

func atLine(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:", file, line)
}

// readForeign reads a file, but no more of it than can be taken over.
func readForeign(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s; name the ralph.yml that is to be taken over", terminal.Line(name))
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe could wait without end
		return nil, fmt.Errorf("%s isn't a regular file; name the ralph.yml that is to be taken over", terminal.Line(name))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, orchestrator.MaxSize+1))
}
