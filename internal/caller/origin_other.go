//go:build !linux

package caller

// Origin is where a request comes from, as far as the system tells: "" for what it doesn't.
type Origin struct {
	PID                      int
	Command, Terminal, Below string
}

// OriginOf knows the number alone.
func OriginOf(pid int) Origin { return Origin{PID: pid} }
