// Command results reads what go test -json prints and says what go test says without -json:
// what failed, and a line for each package with tests. With RALPH_TEST_TIMES, it adds to that
// file how long each test took.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func main() {
	times := io.Discard
	if name := os.Getenv("RALPH_TEST_TIMES"); name != "" {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, "results:", err)
			os.Exit(1)
		}
		defer file.Close()
		times = file
	}
	if err := show(os.Stdin, os.Stdout, times); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

// show writes what the events say, and how long tests took. A test that didn't end, or failed, has
// its output shown when its package is over.
func show(events io.Reader, out, times io.Writer) error {
	said := map[string]*strings.Builder{} // by package and test
	order := map[string][]string{}        // the keys of said of a package
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil { // go's own words
			fmt.Fprint(out, line)
			continue
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "output":
			if said[key] == nil {
				said[key] = new(strings.Builder)
				order[e.Package] = append(order[e.Package], key)
			}
			said[key].WriteString(e.Output)
		case e.Test != "" && (e.Action == "pass" || e.Action == "skip"):
			delete(said, key)
			if !strings.Contains(e.Test, "/") {
				fmt.Fprintf(times, "%.1f %s %s\n", e.Elapsed, path.Base(e.Package), e.Test)
			}
		case e.Test == "" && e.Action == "pass":
			text := strings.TrimPrefix(said[key].String(), "PASS\n")
			fmt.Fprint(out, text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:])
		case e.Test == "" && e.Action == "fail":
			for _, key := range order[e.Package] {
				if text := said[key]; text != nil {
					fmt.Fprint(out, text)
				}
			}
		}
		if e.Test == "" && (e.Action == "pass" || e.Action == "fail") {
			for _, key := range order[e.Package] {
				delete(said, key)
			}
			delete(order, e.Package)
		}
	}
}
