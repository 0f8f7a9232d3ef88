// Package changes keeps what a loop changed in its folder, whoever wrote it: an
// edit tool, a shell, the agent's own commits. It makes snapshots with git's
// plumbing and a private index, and takes back what iterations changed. In a
// git repository it writes nothing but objects and refs below refs/ralph;
// anywhere else the snapshots have a repository of their own in the user's
// state folder.
//
// A Store has the snapshots of one loop (take.go makes them). hold.go lets one process at a time
// make snapshots, and cleans up after a killed one. In a small folder, package stamp sees from the
// entries that nothing changed, and git isn't started; without git, bare.go says whether files hold
// something new. chain.go reads what each snapshot came after (an iteration's, the user's, an undo's),
// below.go has the files of repositories below the folder in them,
// undo.go takes back what a snapshot brought, with a three-way merge per file, restore.go writes the files.
// docs/CHANGES.md says what users rely on.
package changes
