// Package changes keeps what a loop changed in its folder, whoever wrote it: an
// edit tool, a shell, the agent's own commits. It makes snapshots with git's
// plumbing and a private index, and takes back what iterations changed. In a
// git repository nothing is written but objects and refs below refs/ralph;
// anywhere else the snapshots have a repository of their own in the user's
// state folder.
//
// A Store has the snapshots of one loop: trees below refs/ralph, made by git's plumbing with a
// private index (take.go), or in a repository of our own. hold.go lets one process at a time do so,
// and cleans up after one that was killed. Where a folder is small, look.go sees from its entries
// that nothing changed, and git isn't started; where there is no git at all, bare.go says whether
// files hold something new. chain.go reads the snapshots as steps (an iteration's, the user's, an
// undo's), undo.go takes steps back with a three-way merge per file, restore.go writes the files.
// docs/CHANGES.md says what users rely on.
package changes
