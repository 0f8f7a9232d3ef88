// Package desk shows an editor the loops of a fleet, and does with them what it says: it is
// the server's Place for all that is on a bus. It knows no engine.
//
// It is the server's place for loops elsewhere (ralph-fleet --stdio). Of each loop there is the
// record, what its iteration shows, and a log over the files of the attempts that count and the
// live lines of the one that runs (log.go): both have the same lines, each with its attempt and
// number. Changes are read from the checkpoint's snapshots (changes/adopt.go).
package desk
