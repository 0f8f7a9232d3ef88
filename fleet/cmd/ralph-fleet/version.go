package main

import "github.com/ralph-lsp/ralph-lsp/internal/cli"

// version is set at release builds: -ldflags "-X main.version=1.2.3".
var version string

// programVersion is the release, or else what the Go tool knows of the build.
func programVersion() string { return cli.VersionOf(version) }
