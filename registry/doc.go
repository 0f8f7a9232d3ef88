// Package registry keeps what there is to know of this user's loops beside their folders:
// a file for each in the user's state folder, where no loop's agent has to write. The
// process that drives a loop writes its file when it begins, when an iteration does, and when it ends.
//
// Nothing here is believed over a loop's own state file and lock. It is there for what
// these can't tell: how a loop ended, with what it can go on, and in which folders loops are.
//
// Whoever drives a loop writes its file: where it was, how it ended, and, where the state file is
// removed, with what it goes on. Past loops are listed from here. An entry stays as long as the loop's
// session file; Prune removes both. Records of loops that nobody has gone on with for 30 days are
// taken away here too.
package registry
