// Package history mirrors loops into session files that pi itself can open, and reads back the little
// that only they have. It starts no processes and has never heard of editors.
//
// A session file is a line of JSON per entry: a header, then messages, tool
// results and usage as pi keeps them, and entries of two kinds that pi leaves
// to others. "custom" entries of type EventType hold what isn't part of the model's context: results
// that pi's format has no place for, and where the loop and its iterations begin and end.
// "custom_message" entries of type InputType hold what was fed to the agent by somebody else than its
// user.
//
// Every agent's conversation is written in pi's format. Everything else that the loop tells is in its journal alone.
package history
