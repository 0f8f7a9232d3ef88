// Package loopstate keeps the state of a folder's loop in a file that people
// and other tools can read and edit, and says which process drives the loop.
// It never starts a process and knows nothing of agents and their output.
//
// The file is Markdown: a YAML front matter with the loop's numbers, then the
// prompt. A Document is the file's text, and changes only what it is told to
// change. A File is the file of one folder: read, written without losing what
// someone else writes at the same time, watched, and locked.
//
// File.Load gives the file and the record of what a loop counts (record.go) as one State. Note
// writes our part of it, Update the user's part as well. Lock says who drives the folder; a crash
// releases it. What that process says of its loop is in the user's state folder (owner.go), where no agent writes: it is
// written often, so it isn't brought to the disk, as the record of the counts is.
//
// # The file is the user's
//
// Editors and shells save the state file whenever they like: they append to it, cut it to nothing and
// write it in parts, or rename another file over it. A program that rewrote it meanwhile would have to
// merge. So it has the user's keys alone, and the engine reads it. It is written when a loop begins, is
// taken up, paused, updated or left, when an agent took it away, and when a change that loosens the loop
// is put back. Before a write the file is looked at again, and replaced when nobody has changed it;
// otherwise the change is made anew on top of what is there.
//
// The number behind "iteration:" is for people and other tools (count.go). It is set when an iteration
// begins, and only where the file still has what was read. A number with as many digits is written into
// its place, which can't lose another program's write. A longer one needs a new file, so it waits until
// nobody has saved the file for a second. Nobody believes the number where there is a record.
//
// # The record
//
// What a loop counts, and what it needs to go on, is in its record: loop.json in the loop's folder
// (loopstate/registry), beside its journal and its socket. The process that has the folder's lock writes
// it, about once a second while the loop spends, and believes only what it has written itself. The same
// file has what others may know of the loop: its title, how far it is, how it ended. The name of the
// loop's folder is made of its id and its path, so a listing finds a loop by either.
//
// A folder that was moved takes its loop along. A copy has spent what its original has, and is allowed
// nothing more. A state file without a record (another tool's, or an older version's) is taken up with
// what is in it. run --once leaves all in the file and no record, so a fleet, whose machines share
// nothing but the bus, carries one file.
//
// # Half a prompt is never run
//
// A run's prompt comes from File.Claim. It believes the known prompt, with or without more text after it.
// It believes any other prompt, or that the file is broken, only when the file has stayed the same for
// 2 s, and waits up to a minute for that. run --once --continue believes the one that it finds, as the
// program that holds the loop has left it. A file that is gone, or only begun, is believed after a second.
//
// # Git
//
// ignore.go puts a .pi/.gitignore beside the state file, so that an agent that commits everything doesn't
// commit it, and a stash or a clean of untracked files doesn't remove it.
package loopstate
