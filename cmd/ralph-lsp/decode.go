package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// decodeFormats are the values of decode --format: the agents whose stream has
// a structure, by name, and text.
func decodeFormats() (names []string, formats map[string]decode.Format) {
	formats = map[string]decode.Format{"text": decode.FormatText, "acp": decode.FormatACP}
	for _, name := range backends.Detected() {
		if b, err := backends.Lookup(name); err == nil && b.Output != decode.FormatText {
			names, formats[name] = append(names, name), b.Output
		}
	}
	return append(names, "acp", "text"), formats
}

func newDecode() *cobra.Command {
	names, formats := decodeFormats()
	format := start.Choice{Of: names}
	var verbose, summary bool
	cmd := &cobra.Command{
		Use:   "decode --format AGENT [FILE|-]",
		Short: "Print a recorded stream as event lines",
		Long: `Print an agent's recorded output as one JSON object per line, as run
--output json does, but without loopId and time: a recording is one iteration.
The last line sums it up.`,
		Example:           "  ralph-lsp decode --format pi recorded.jsonl\n  ralph-lsp decode --format claude --summary - < recorded.jsonl",
		Args:              atMostOneFile,
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format.Value == "" {
				return fmt.Errorf("--format is missing; say which agent the stream is of: %s", strings.Join(names, ", "))
			}
			in, err := openInput(args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			return terminal.Decode(in, cmd.OutOrStdout(), formats[format.Value], verbose, summary)
		},
	}
	cmd.Flags().Var(&format, "format", "the `AGENT` whose stream it is: "+strings.Join(names, ", "))
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print the model's reasoning too")
	cmd.Flags().BoolVar(&summary, "summary", false, "print the last line only")
	cli.CompleteWith(cmd, "format", format.Of...)
	return cmd
}

func atMostOneFile(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("decode reads one file, but got %d; call it once for each", len(args))
	}
	return nil
}

// openInput opens a file, or standard input. A folder can be opened like a file,
// and would fail in the middle of reading, with words that help nobody.
func openInput(args []string, stdin io.Reader) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(stdin), nil
	}
	switch info, err := os.Stat(args[0]); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s; give a recorded stream, or - for standard input", args[0])
	case err != nil:
		return nil, fmt.Errorf("opening the stream: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; give a recorded stream, or - for standard input", args[0])
	}
	return os.Open(args[0])
}
