// Benchtable reads the output of "go test -bench Decode" from its standard
// input and prints a Markdown table of how decoding compares with its peers.
// Of several runs of a benchmark the fastest counts, because everything else
// that a machine does only makes a run slower.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("benchtable: ")
	inputs, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(os.Stdout, inputs); err != nil {
		log.Fatal(err)
	}
}

// input is one stream and what the benchmarks over it gave, by peer.
type input struct {
	name  string
	peers map[string]result
}

// result is the fastest run of a benchmark.
type result struct {
	megabytes float64 // per second
	allocs    float64 // per line
}

// The names of the sub-benchmarks.
const (
	scan   = "scan"
	json   = "encoding-json"
	ours   = "ours"
	byRead = "ours-by-read"
)

var benchLine = regexp.MustCompile(`^Benchmark\w+/([^/\s]+)/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// read collects the results in the order in which the inputs appear.
func read(r io.Reader) ([]input, error) {
	var inputs []input
	index := map[string]int{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		m := benchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name, peer := m[1], m[2]
		res, err := parse(m[3])
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", name, peer, err)
		}
		i, ok := index[name]
		if !ok {
			i = len(inputs)
			index[name] = i
			inputs = append(inputs, input{name, map[string]result{}})
		}
		if res.megabytes > inputs[i].peers[peer].megabytes {
			inputs[i].peers[peer] = res
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the benchmark output: %w", err)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("no benchmark of the form BenchmarkName/input/peer in the input")
	}
	return inputs, nil
}

// parse reads the measurements of one line: pairs of a number and its unit.
func parse(measurements string) (result, error) {
	values := map[string]float64{}
	fields := strings.Fields(measurements)
	for i := 0; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return result{}, fmt.Errorf("measurement %q isn't a number", fields[i])
		}
		values[fields[i+1]] = v
	}
	if values["MB/s"] == 0 {
		return result{}, fmt.Errorf("no MB/s in %q", measurements)
	}
	res := result{megabytes: values["MB/s"]}
	if lines := values["lines/op"]; lines > 0 {
		res.allocs = values["allocs/op"] / lines
	}
	return res, nil
}

// write prints the table. A ratio whose benchmark didn't run is left out.
func write(w io.Writer, inputs []input) error {
	var b strings.Builder
	b.WriteString("| stream | newline scan | encoding/json | ours | ours, through Read | scan ÷ ours | ours ÷ encoding/json | allocations per line |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, in := range inputs {
		p := in.peers
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %.2f |\n", in.name,
			speed(p[scan]), speed(p[json]), speed(p[ours]), speed(p[byRead]),
			ratio(p[scan], p[ours]), ratio(p[ours], p[json]), p[ours].allocs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func speed(r result) string {
	if r.megabytes == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f GB/s", r.megabytes/1000)
}

func ratio(a, b result) string {
	if a.megabytes == 0 || b.megabytes == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a.megabytes/b.megabytes)
}
