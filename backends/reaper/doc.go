// Package reaper is a small process of ours that starts the agents of one loop
// and has no other children, and this program's end of the socket to it.
//
// Linux gives every process below a child subreaper back to it when its parent
// dies. So whatever is below the reaper belongs to the loop, whatever its
// environment, session or age, and when the reaper has no child left, nothing of
// the loop is left.
//
// This program asks the reaper over a socket to start an agent, with the agent's
// files, to signal it, and to sweep. A sweep sends SIGTERM, waits for a grace
// period, and then sends SIGKILL until no child is left. Every run ends with a
// sweep, even a good one, and a cancel is answered after it. Two loops in one
// program have two reapers, and so has each agent of a step but the first: a sweep
// ends all that is below a reaper. A version check has its own, too.
//
// # When something is killed or hangs
//
//   - ralph-lsp is killed: the reaper sees the end of its socket, sends SIGTERM to
//     the agents, ends what is left after half a second, removes the temporary
//     folder and exits.
//   - The reaper is killed: the kernel sends the agent SIGTERM, and ralph-lsp ends
//     every process with the reaper's mark. The run fails and says why; the next run
//     gets a new reaper.
//   - Both are killed at once: the record of the loop's owner has the marks of all reapers. The
//     next start or cancel in the folder ends the processes that have them.
//   - ralph-lsp hangs as a whole: each process that drives loops sends its reapers a
//     beat each 5 s. After 30 s without one, the reaper ends what else the process
//     has started (git, say), kills it, sweeps, and writes into that record why.
//     Time doesn't count in which the process is stopped, held by a debugger or in
//     the kernel, or in which the machine sleeps.
//
// # The mark
//
// The mark is a resource limit, RLIMIT_LOCKS (file locks): a random number of 61
// bits for each loop, to be read in /proc/PID/limits. Linux keeps it for each
// process, passes it on with each fork and exec, lets nobody without privileges
// raise it again, and stopped enforcing it long ago (mark_linux.go). A process can
// lower its mark; then it is found by the lower limit and the name of the temporary
// folder in its environment. RALPH_LOOP_ID in the environment only tells an agent
// where it is: any process may have a copy.
//
// Behind walls the agent is in a pid namespace, below bubblewrap. The reaper signals
// the processes inside, since the end of bubblewrap ends all of them at once. When
// the agent ends, the kernel ends what it started, without a grace period.
//
// # What remains
//
//   - A process that lowers its mark, changes TMPDIR, leaves its session and kills
//     the reaper isn't found. Its lower limit still keeps it from being taken for
//     the user (internal/caller).
//   - Processes that another service starts for an agent (a container, a systemd
//     unit, a window of a tmux that ran before) aren't below the agent.
//   - Processes of another user can't be ended; ralph-lsp reports them.
//   - Where an administrator has limited file locks to less than 2^32, there is no
//     mark. The death of the reaper then ends the agent and what is below it.
//
// Control groups would find the first, but only the services and desktop programs of
// a systemd user may make them (no shell over ssh, container or cron), and an agent of
// the same user may move itself into any other group of that user.
//
// # Why a process of its own
//
// ralph-lsp itself is no reaper: a program that embeds loops keeps its own children,
// and the mark finds orphans wherever they went. The reaper is this program, started
// under another name. Its main function is an init, and the package imports next to
// nothing, so that it runs before the packages of the program are initialised; it
// starts while the state file is written. The agent of a plan is the foreground job of
// a session that its reaper leads, as with a shell, because Ctrl-Z needs that.
//
// Other systems have nothing like it. On Windows a run is a job (package backends). On
// macOS its tree is watched (tree.go): that part has been tested with a table of
// processes alone.
package reaper
