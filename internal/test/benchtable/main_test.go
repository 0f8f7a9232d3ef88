package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	const out = `goos: linux
BenchmarkDecode/pi/scan-2           3  1000 ns/op  5000.00 MB/s  100 lines/op  0 B/op  0 allocs/op
BenchmarkDecode/pi/encoding-json-2  3  1000 ns/op   100.00 MB/s  100 lines/op  0 B/op  900 allocs/op
BenchmarkDecode/pi/ours-2           3  1000 ns/op  1000.00 MB/s  100 lines/op  0 B/op  100 allocs/op
BenchmarkDecode/pi/ours-2           3  1000 ns/op  1250.00 MB/s  100 lines/op  0 B/op  100 allocs/op
BenchmarkDecode/claude/ours-2       3  1000 ns/op   900.00 MB/s  100 lines/op  0 B/op  200 allocs/op
PASS
`
	inputs, err := read(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := write(&table, inputs); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(table.String(), "\n")[2:]
	want := []string{
		"| pi | 5.00 GB/s | 0.10 GB/s | 1.25 GB/s | – | 4.00 | 12.50 | 1.00 |",
		"| claude | – | – | 0.90 GB/s | – | – | – | 2.00 |",
		"",
	}
	for i := range want {
		if rows[i] != want[i] {
			t.Errorf("row %d is %s\nwant    %s", i, rows[i], want[i])
		}
	}
}

func TestNoBenchmarks(t *testing.T) {
	if _, err := read(strings.NewReader("PASS\n")); err == nil {
		t.Error("an input without benchmarks must be an error")
	}
}
