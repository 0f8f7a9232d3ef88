// Command install installs the agents that the tests run. It is quiet when
// nothing is missing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
)

func main() {
	dir := flag.String("dir", "", "where to install; default .cache/agents in the checkout")
	flag.Parse()
	if err := install(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func install(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if dir == "" {
		var err error
		if dir, err = agents.CacheDir(); err != nil {
			return err
		}
	}
	_, err := agents.Install(ctx, dir, os.Stderr)
	return err
}
