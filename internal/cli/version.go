package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// VersionOf is the version of the program that runs: its release, or else what the Go tool
// knows of the build, as in "devel".
func VersionOf(release string) string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return strings.Trim(info.Main.Version, "()")
}

// Versioned gives a root its version, as a flag and as a command. Editors know a program by
// what either prints.
func Versioned(root *cobra.Command, version string) {
	asked := root.Flags().BoolP("version", "v", false, "version for "+root.Name()) // cobra's own says another line
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *asked {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), root.Name(), version)
			return err
		}
		return run(cmd, args)
	}
	root.AddCommand(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s, %s/%s)\n", root.Name(), version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	})
}
