// Command serve runs a fake model by hand, for instance to record what an
// agent prints:
//
//	go run ./internal/test/fakemodel/serve -script s.json -log requests.log
//
// The first line on stdout is the base URL.
package main

import (
	"context"
	"encoding/json"
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
	script := flag.String("script", "", "JSON script; without one every answer is OK")
	logPath := flag.String("log", "", "append one JSON line per request to this file")
	bodies := flag.Bool("bodies", false, "put whole request bodies in the log")
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	watchStdin := flag.Bool("watch-stdin", false, "stop at the end of stdin, so that nothing outlives the caller")
	flag.Parse()
	if err := serve(*script, *logPath, *addr, *bodies, *watchStdin); err != nil {
		log.Fatal(err)
	}
}

// serve answers until a signal or, if asked, until the end of stdin.
func serve(scriptPath, logPath, addr string, bodies, watchStdin bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	var script fakemodel.Script
	if scriptPath != "" {
		data, err := os.ReadFile(scriptPath)
		if err != nil {
			return err
		}
		if script, err = fakemodel.Parse(data); err != nil {
			return fmt.Errorf("%s: %w", scriptPath, err)
		}
	}
	opts := fakemodel.Options{Addr: addr}
	if logPath != "" {
		f, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		opts.OnEnd = logger(f, bodies)
	}
	server, err := fakemodel.StartWith(script, opts)
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

// logger returns a function that appends each request to w as one JSON line.
func logger(w io.Writer, bodies bool) func(fakemodel.Request) {
	enc := json.NewEncoder(w)
	return func(r fakemodel.Request) {
		line := struct {
			fakemodel.Request
			Body json.RawMessage `json:"body,omitempty"`
		}{Request: r}
		if bodies && json.Valid(r.Body) {
			line.Body = r.Body
		}
		if err := enc.Encode(line); err != nil {
			log.Print(err)
		}
	}
}
