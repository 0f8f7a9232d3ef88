// Package acplist is about agents of the Agent Client Protocol: those that are known, and those of its
// registry, which is fetched when its user says so. It downloads and runs none.
package acplist

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
)

// registryFile is where the registry of the Agent Client Protocol is kept that its user has fetched.
func registryFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for the registry: %w", err)
	}
	return filepath.Join(dir, "ralph-lsp", "acp-registry.json"), nil
}

// NewUpdate fetches the registry.
func NewUpdate() *cobra.Command {
	return &cobra.Command{
		Use:   "update [URL]",
		Short: "Fetch the list of agents that speak the protocol, with curl",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			url := acp.RegistryURL
			if len(args) > 0 {
				url = args[0]
			}
			file, err := registryFile()
			if err != nil {
				return err
			}
			argv := []string{"curl", "--disable", "--fail", "--silent", "--show-error", "--location", "--proto-redir", "=https", "--max-time", "60", "--max-filesize", "16777216", "--", url}
			fmt.Fprintln(cmd.OutOrStdout(), terminal.Line(strings.Join(argv, " ")))
			curl := exec.CommandContext(cmd.Context(), argv[0], argv[1:]...)
			curl.Stderr = cmd.ErrOrStderr()
			data, err := curl.Output()
			if err != nil {
				return fmt.Errorf("fetching the registry: %w", err)
			}
			entries, err := acp.ReadRegistry(data)
			if err != nil {
				return fmt.Errorf("reading the registry: %w", err)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, data, 0o600); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d agents; ralph-lsp acp list shows them. None was downloaded.\n", len(entries))
			return nil
		},
	}
}

// NewList lists the agents.
func NewList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAME]",
		Short: "List agents that speak the protocol, or say how one is run",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			file, err := registryFile()
			if err != nil {
				return err
			}
			var entries []acp.Entry
			data, err := os.ReadFile(file)
			if err == nil {
				if entries, err = acp.ReadRegistry(data); err != nil {
					return fmt.Errorf("reading %s: %w; fetch it again with ralph-lsp acp update", file, err)
				}
			}
			if len(args) > 0 {
				i := slices.IndexFunc(entries, func(e acp.Entry) bool { return e.ID == args[0] })
				if i < 0 {
					return fmt.Errorf("the registry has no agent %q; see ralph-lsp acp list and acp update", args[0])
				}
				return describe(out, entries[i])
			}
			list(out, entries)
			return nil
		},
	}
}

// list lists the known agents, and those of the registry.
func list(out io.Writer, entries []acp.Entry) {
	p := terminal.PaletteFor(out)
	for _, name := range backends.Names() {
		b, err := backends.Lookup(name)
		if err != nil || !strings.HasPrefix(name, backends.ACPPrefix) {
			continue
		}
		where, err := b.Find()
		if err != nil {
			where = "not installed: " + b.HowToInstall()
		}
		fmt.Fprintln(out, p.Bold(name)+" "+strings.Join(append([]string{b.Command}, b.Args...), " ")+p.Dim(" "+terminal.Line(where)))
	}
	if len(entries) == 0 {
		fmt.Fprintln(out, "more are in the registry: ralph-lsp acp update fetches it")
		return
	}
	fmt.Fprintln(out, "in the registry; ralph-lsp acp list NAME says what to write into ralph.toml to run one:")
	for _, e := range entries {
		fmt.Fprintln(out, p.Bold(terminal.Line(e.ID))+" "+terminal.Line(e.Version)+p.Dim(" "+terminal.Line(how(e))))
	}
}

// how says in a line what would run an agent of the registry.
func how(e acp.Entry) string {
	argv, _, archive := e.Command()
	switch {
	case len(argv) == 0:
		return "not for this system"
	case archive != "":
		return "a download: " + archive
	}
	return strings.Join(argv, " ")
}

// describe prints the table of ralph.toml by which an agent of the registry is run. Whoever writes it
// there lets it be downloaded.
func describe(out io.Writer, e acp.Entry) error {
	argv, env, archive := e.Command()
	if len(argv) == 0 {
		return fmt.Errorf("there is no %s for this system", terminal.Line(e.ID))
	}
	if archive != "" {
		fmt.Fprintln(out, terminal.Line("# unpack "+archive+", and name the program by its path"))
	}
	write := func(key string, value any) {
		text, _ := json.Marshal(value) // texts can always be encoded, and are so in TOML
		fmt.Fprintln(out, terminal.Line(key+string(text)))
	}
	id, _ := json.Marshal(e.ID)
	fmt.Fprintln(out, terminal.Line("[backends."+string(id)+"]")+"\nprotocol = \"acp\"")
	write("command = ", argv[0])
	write("args = ", argv[1:])
	if len(env) > 0 {
		write("env = ", env)
	}
	return nil
}
