// Package journal keeps a loop's story: one file per loop in the user's state folder, to
// which the process that runs the loop appends a line for each update that clients get.
//
// The first line names the journal. Each other is an update with its iteration:
//
//	{"i":3,"u":{"sessionUpdate":"agent_message_chunk",...}}
//
// A cursor is the journal's name and an offset behind a line. It means the same to who
// listens (Log.Follow), who asks after a reload, who reads the loop of another process, and
// who reads one that ended (Reader). A Recorder writes; it is the loop's observer. Pieces of
// one message are joined before they are written, and a reader joins those that follow each
// other, up to wire.MaxText. A line that isn't whole is told to nobody; who writes on removes it.
//
// What only says how far something has come (a tool's output so far) isn't written: a
// follower in this process gets the last of it.
package journal
