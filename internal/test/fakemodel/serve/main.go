// Command serve runs a fake model by hand, for instance to record what an
// agent prints:
//
//	go run ./internal/test/fakemodel/serve -script s.json
//
// The first line on stdout is the base URL.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fakemodel: ")
	script := flag.String("script", "", "JSON script")
	watchStdin := flag.Bool("watch-stdin", false, "stop at the end of stdin, so that nothing outlives the caller")
	flag.Parse()
	if err := serve(*script, *watchStdin); err != nil {
		log.Fatal(err)
	}
}

// serve answers until a signal or, if asked, until the end of stdin.
func serve(path string, watchStdin bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	script, err := fakemodel.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	server, err := fakemodel.Start(script)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.URL)
	if watchStdin {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	<-ctx.Done()
	return nil
}
