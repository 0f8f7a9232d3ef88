// Command ralph-lsp runs coding agents in Ralph loops.
package main

import (
	"os"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
)

func main() {
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// version is set at release builds: -ldflags "-X main.version=1.2.3".
var version string

// programVersion is the release, or else what the Go tool knows of the build.
func programVersion() string { return cli.VersionOf(version) }
