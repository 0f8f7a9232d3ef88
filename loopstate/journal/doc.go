// Package journal keeps a loop's story: one file per loop in the user's state folder. The process
// that runs the loop appends a line for each update that clients get.
//
// The first line names the journal. Each other is an update with its iteration and its time:
//
//	{"i":3,"t":1795694400000,"u":{"sessionUpdate":"agent_message_chunk",...}}
//
// A cursor is the journal's name and the offset after a line. It means the same to a listener
// (Log.Follow), to a client that reloads, and to a reader of a loop that another process runs or
// that has ended (Reader): see log.go, file.go, page.go. Nobody is told a line that isn't whole;
// the next writer removes it.
//
// A Recorder writes; it is the loop's observer. It makes updates of events, for listeners and the
// journal, and writes the conversation into the session file (kept.go, the loop's Session).
// Pieces of a message are joined before they are written, at most 50 ms, and a reader joins
// neighbours up to wire.MaxText. A tool's output so far isn't written: listeners in this process
// get the last one.
//
// A journal is kept as long as the loop's session file. The terminal shows pages of it
// (internal/terminal).
package journal
