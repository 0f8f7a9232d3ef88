// Package reaper is a small process of ours that starts the agents of one loop
// and has no other children, and this program's end of the socket to it.
//
// Linux gives every process below a child subreaper back to it when its parent
// dies. So whatever is below the reaper is the loop's, whatever its environment,
// session or age, and when the reaper has no child left, nothing of the loop's is
// left. It ends all of it when it is asked to, and when the other end of its
// socket is closed: this program has ended in any way.
//
// When the reaper itself is killed, nothing leads to its descendants any more. All
// of them bear its mark, a resource limit that the kernel hands on with each
// fork and exec and lets nobody raise again (mark_linux.go).
//
// Other systems have nothing like it. On Windows a run is a job (package backends). On macOS
// its tree is watched (tree.go): that part has been tested with a table of processes alone.
//
// The reaper is this program, started under another name. Its main function is
// an init, and the package imports next to nothing, so that it runs before the
// packages of the program are initialised.
package reaper
