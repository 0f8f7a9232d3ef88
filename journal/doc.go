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
// A Recorder writes; it is the loop's observer. It makes updates of events, and hands the same
// updates to listeners, the journal and the session file (kept.go, the loop.Session of a loop).
// Pieces of a message are joined before they are written, at most 50 ms, and a reader joins
// neighbours up to wire.MaxText. A tool's output so far isn't written: listeners in this process
// get the last one.
//
// A file that has grown too large is replaced by one with its newer half, and of the older half
// where iterations began and ended (trim.go). Offsets count on, so cursors stay valid.
//
// session.go turns a session file into lines when it is asked for. The terminal shows pages of
// either (cmd/internal/terminal).
package journal
