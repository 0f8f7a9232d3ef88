// Package journal keeps a loop's story: one file per loop in the user's state folder, to
// which the process that runs the loop appends a line for each update that clients get.
//
// The first line names the journal. Each other is an update with its iteration and its time:
//
//	{"i":3,"t":1795694400000,"u":{"sessionUpdate":"agent_message_chunk",...}}
//
// A cursor is the journal's name and an offset behind a line. It means the same to who
// listens (Log.Follow), who asks after a reload, who reads the loop of another process, and
// who reads one that ended (Reader). A Recorder writes; it is the loop's observer. Pieces of
// one message are joined before they are written, and a reader joins those that follow each
// other, up to wire.MaxText. A line that isn't whole is told to nobody; who writes on removes it.
//
// A file that has grown too large is replaced by one that has its newer half, and of the rest
// where iterations began and ended (trim.go). Offsets count on, so cursors stay.
//
// What only says how far something has come (a tool's output so far) isn't written: a
// follower in this process gets the last of it.
//
// The Recorder makes updates of events, and the same updates go to who listens, into a file in the
// user's state folder, and into the session file (kept.go, the loop.Session of a loop). A cursor is
// a journal's name and an offset, so a client that listens, one that reloads, a second editor and
// the follower of another process read the same (log.go, file.go, page.go). Pieces of a message are
// joined before they are written, at most 50 ms. Of what only says how far a tool has come, who
// listens gets the last. session.go makes lines of a session file when it is asked for. The terminal
// shows pages of either (cmd/internal/terminal).
package journal
