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
// releases it. ARCHITECTURE.md says whose the state file is, and why.
package loopstate
