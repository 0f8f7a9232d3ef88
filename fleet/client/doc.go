// Package client shows an editor the loops of a bus, and does what the editor says to them: it is
// the server's service.Remote (ralph-fleet --stdio). It knows no engine.
//
// Of each loop there is the record, what its iteration shows, and a log over the files of the
// attempts that count and the live lines of the one that runs (log.go): both have the same lines,
// each with its attempt and number. Changes are read from the checkpoint's snapshots
// (workspace/changes/adopt.go).
package client
