// Package acpagents has the commands about agents of the Agent Client Protocol: those that are known,
// and those of its registry.
package acpagents

import (
	"cmp"
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
	protocol "github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
)

// Commands are acp list and acp update.
func Commands() []*cobra.Command { return []*cobra.Command{newList(), newUpdate()} }

// registryFile is where the registry is kept that its user has fetched.
func registryFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for the registry: %w", err)
	}
	return filepath.Join(dir, "ralph-lsp", "acp-registry.json"), nil
}

// newUpdate fetches the registry.
func newUpdate() *cobra.Command {
	return &cobra.Command{
		Use:   "update [URL]",
		Short: "Fetch the list of agents that speak the protocol, with curl",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := registryFile()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			argv := []string{"curl", "--disable", "--fail", "--silent", "--show-error", "--location", "--proto-redir", "=https", "--max-time", "60", "--max-filesize", "16777216", "--", cmp.Or(strings.Join(args, ""), protocol.RegistryURL)}
			fmt.Fprintln(out, terminal.Line(strings.Join(argv, " ")))
			curl := exec.CommandContext(cmd.Context(), argv[0], argv[1:]...)
			curl.Stderr = cmd.ErrOrStderr()
			data, err := curl.Output()
			if err != nil {
				return fmt.Errorf("fetching the registry: %w", err)
			}
			entries, err := protocol.ReadRegistry(data)
			if err != nil {
				return fmt.Errorf("reading the registry: %w", err)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			fmt.Fprintf(out, "%d agents; ralph-lsp acp list shows them. None was downloaded.\n", len(entries))
			return os.WriteFile(file, data, 0o600)
		},
	}
}

// newList lists agents of the protocol: those that are known, and those of its registry, which is
// fetched when its user says so. None is downloaded or run.
func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAME]",
		Short: "List agents that speak the protocol, or say how one is run",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := registryFile()
			if err != nil {
				return err
			}
			var entries []protocol.Entry
			if data, err := os.ReadFile(file); err == nil {
				if entries, err = protocol.ReadRegistry(data); err != nil {
					return fmt.Errorf("reading %s: %w; fetch it again with ralph-lsp acp update", file, err)
				}
			}
			if len(args) == 0 {
				list(cmd.OutOrStdout(), entries)
				return nil
			}
			i := slices.IndexFunc(entries, func(e protocol.Entry) bool { return e.ID == args[0] })
			if i < 0 {
				return fmt.Errorf("the registry has no agent %q; see ralph-lsp acp list and acp update", args[0])
			}
			return describe(cmd.OutOrStdout(), entries[i])
		},
	}
}

// list lists the known agents, and those of the registry.
func list(out io.Writer, entries []protocol.Entry) {
	for _, name := range backends.Names() {
		if b, err := backends.Lookup(name); err == nil && strings.HasPrefix(name, backends.ACPPrefix) {
			where, err := b.Find()
			if err != nil {
				where = "not installed: " + b.HowToInstall()
			}
			fmt.Fprintln(out, terminal.Line(strings.Join(slices.Concat([]string{name, b.Command}, b.Args, []string{where}), " ")))
		}
	}
	if len(entries) == 0 {
		fmt.Fprintln(out, "more are in the registry: ralph-lsp acp update fetches it")
		return
	}
	fmt.Fprintln(out, "in the registry; ralph-lsp acp list NAME says what to write into ralph.toml to run one:")
	for _, e := range entries {
		how := "not for this system"
		if argv, _, archive := e.Command(); archive != "" {
			how = "a download: " + archive
		} else if len(argv) > 0 {
			how = strings.Join(argv, " ")
		}
		fmt.Fprintln(out, terminal.Line(e.ID+" "+e.Version+" "+how))
	}
}

// describe prints the table of ralph.toml by which an agent of the registry is run. Whoever writes it
// there lets it be downloaded.
func describe(out io.Writer, e protocol.Entry) error {
	argv, env, archive := e.Command()
	if len(argv) == 0 {
		return fmt.Errorf("there is no %s for this system", terminal.Line(e.ID))
	}
	if archive != "" {
		fmt.Fprintln(out, terminal.Line("# unpack "+archive+", and name the program by its path"))
	}
	for _, it := range []struct {
		before string
		value  any
		behind string
	}{{"[backends.", e.ID, "]"}, {"protocol = ", "acp", ""}, {"command = ", argv[0], ""}, {"args = ", argv[1:], ""}, {"env = ", env, ""}} {
		if text, _ := json.Marshal(it.value); string(text) != "null" { // texts can always be encoded, and are so in TOML
			fmt.Fprintln(out, terminal.Line(it.before+string(text)+it.behind))
		}
	}
	return nil
}
