// Package registry keeps what there is to know of this user's loops beside the folders they work in: a folder for each
// in the user's state folder, where no loop's agent has to write. In it are the loop's file (loop.json), its journal,
// how it stands and the socket, both of the process that drives it, and what that process said when it crashed. A list
// of loops is a listing of
// these folders.
//
// One process writes a loop's file: the one that has the lock of the folder in which the loop works (package loopstate).
// The file says where the loop is, how far it has come and what it counts, how it ended, and, where the state file is
// removed, with what it goes on. An entry stays as long as the loop's session file; Prune removes both.
package registry
