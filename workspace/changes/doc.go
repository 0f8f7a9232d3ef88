// Package changes stores what changed in a loop's folder, by any author: an edit tool, a shell, the agent's own
// commits. It makes snapshots with git's plumbing and a private index, and undoes what iterations changed. In a git
// repository it writes nothing but objects and refs below refs/ralph; anywhere else the snapshots have a repository
// of their own in the user's state folder.
//
// A Store has the snapshots of one loop, in parts with a job each:
//
//   - an archive stores them: chain.go reads what each one followed (an iteration, the user's changes, an undo), hold.go
//     lets one process at a time work on them, and cleans up after a killed one;
//   - an index finds what changed in the folder, and takes that in as far as its ration goes (candidates.go, bound.go,
//     stage.go; below.go has the repositories below the folder);
//   - Snapshots make one from an index (take.go). In a small folder, package stamp sees from the entries that nothing
//     changed, and git isn't started;
//   - Diff compares them, Review has the user's marks (keep.go);
//   - Undoer undoes what some changed (undo.go), Checkouts bring work of agents side by side (checkout.go). Both make a
//     restoration: merge.go decides about each file, by git's three-way merge, and restore.go writes the files.
//
// Without git, bare.go says whether files hold something new. docs/CHANGES.md says what users rely on.
package changes
