// Package keeper is the process of one loop: it gets the loop from a window, drives it to its end, and
// tells its windows what happens. The loop doesn't wait for any of them.
//
// # The process
//
// The keeper is this program under another name, in a session of its own (internal/apart), so the end of
// a terminal doesn't reach it. It stays below its window while that lives: a process between them would
// cost three milliseconds of each start, and a user who ends a terminal with all that is below it means
// the loop, too. A terminal starts its keeper before it knows what the loop is to do, which hides most of
// the start; a keeper that gets no loop ends.
//
// The window (a terminal, or an editor's server) resolves the start with its user: settings, trust,
// checks, a worktree. It hands the configuration over as data (setup.Config.Encode), on a connection that
// the keeper inherits, so both are always one build, the configuration goes into no file and no argument,
// and the keeper notices at once when its window is gone. A setup.Host has what a process does for its
// loop and no data can. The keeper has the environment of the window that began the loop.
//
// # Windows
//
// They talk in lines: lines of the journal pass through as they are in the file, all others are frames of
// keeper/client, the only other package that knows them. After each block of lines the keeper says where
// it ends in the journal. A window that doesn't take the lines, or whose keeper was killed, reads the rest
// there.
//
// Other windows come in by the loop's socket (keeper/door). A connection that begins with a frame is a
// window; anything else is a request, which is answered. Each process that drives a loop has a door. At
// the loop's end a window that owns it may take its time; another one has two seconds.
//
// # Owners
//
//   - When the connection of the last owner ends, in whatever way, the loop is interrupted. Once it was
//     detached, or with on_close = "keep", nothing happens.
//   - A terminal owns the loop that it began, and one that it takes (attach --own), detached or not.
//   - Each editor with a window of a loop that an editor began owns it. Such a loop goes on for 5 seconds
//     without any, so a reload, a dropped connection and a server that crashed don't end it.
//   - The editor that came last is asked for the diagnostics of its language servers.
//   - Only its window hears, twice, that a terminal closes. It ends at once where the loop is kept, and
//     else waits some seconds for the loop's end.
//   - When the keeper is killed, its window ends what the reaper may have left, which it finds by the
//     mark, and says how to go on.
//
// Only this package links the engine. run --once calls Start in its own process.
package keeper
