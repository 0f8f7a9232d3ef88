package config

// Name is the file's name in a folder.
const Name = "ralph.toml"

// MaxSize is the largest file that is looked at, in bytes.
const MaxSize = 64 << 10

// Severity says how bad a problem is.
type Severity int

// The severities.
const (
	Error   Severity = iota // the file is refused
	Warning                 // a loop can start, but hardly as it was meant
)

// Problem is something wrong in a file.
type Problem struct {
	Line              int // 1-based
	Column, EndColumn int // bytes in the line, 1-based; EndColumn is behind the last one
	Severity          Severity
	Key               string // "limits.max_iterations"; "" for what belongs to no key
	Message           string // what is wrong and what to do about it
	Fix               *Fix   // nil when only the author knows
}

// Fix mends a problem: Text replaces what is between its columns.
type Fix struct {
	Title string // "change it to max_iterations"
	Text  string
}
