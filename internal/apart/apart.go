// Package apart starts this program such that nobody's end reaches it: in a session of its own, below
// a process that ends at once. So who ends this process with all that is below it, as editors and test
// runners do, doesn't find it there.
package apart

import "os"

// files is how many descriptors the process has: input, output, what it says when it crashes, and a connection.
const files = 4

// Start starts this program with other arguments, the first of which is its name. It has files as its first descriptors;
// nil is none. The error is the system's.
func Start(args []string, given [files]*os.File) error { return start(args, given) }
