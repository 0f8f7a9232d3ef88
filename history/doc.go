// Package history mirrors loops into session files that pi itself can open,
// and reads session files back: its own, pi's, and claude's transcripts. It
// starts no processes and has never heard of editors.
//
// A session file is a line of JSON per entry: a header, then messages, tool
// results and usage as pi keeps them, and entries of two kinds that pi leaves
// to others. "custom" entries hold what isn't part of the model's context: those
// of type UpdateType an update of the loop as its journal has it, those of type
// EventType what an agent said and did that pi's format has no place for, and where
// the loop begins and ends. "custom_message" entries of type InputType hold what
// was fed to the agent by somebody else than its user.
//
// It writes an agent's conversation into a session file of pi's format, whichever agent ran, and
// what the loop tells between as the updates that others made of it. It reads such files, and
// claude's transcripts, back: the agent's events, and the updates as they stand there. repair.go
// mends broken ones; nothing else ever changes a file that it didn't write.
package history
