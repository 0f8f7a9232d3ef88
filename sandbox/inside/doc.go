// Package inside is what happens behind the walls before a program starts there: this program, in
// another role, gives up what the walls can't take, looks whether what is there is what was meant,
// and becomes that program. Importing it is enough to play the role.
//
// It gives up what these can't take (system calls, limits), looks whether what is mounted is what
// was meant, and becomes the agent.
package inside

import "strconv"

// role is the first argument of this program when it is to play the part.
const role = "ralph-lsp-inside"

// FileID is a file or folder, by its numbers.
type FileID struct {
	Path     string
	Dev, Ino uint64
}

// Stage says what is to be done.
type Stage struct {
	Group     string   // a control group to be in: a folder of the kernel's
	Processes uint64   // that this user may have in the namespace at once; 0: as many as before
	Data      uint64   // bytes that each of them may have; 0: as many as before
	Filter    bool     // calls are refused: for keys that the kernel keeps; abstract unix sockets are closed
	Alone     bool     // so are those for user namespaces
	Places    []FileID // that must be what they were
}

// Args are this program's for a stage before another one, which has its path and arguments.
func (s Stage) Args(program string, args []string) []string {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	said := []string{role, s.Group, number(s.Processes), number(s.Data), strconv.FormatBool(s.Filter),
		strconv.FormatBool(s.Alone), strconv.Itoa(len(s.Places))}
	for _, place := range s.Places {
		said = append(said, place.Path, number(place.Dev), number(place.Ino))
	}
	return append(append(said, program), args...)
}
