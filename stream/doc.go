// Package stream turns the output of a coding agent into events: the lines of
// pi and claude, of any version that is about, and the plain text of everybody
// else become the same small set of Event kinds. It also knows what is hidden
// in the text, promises and topics, and what an agent's error message means.
//
// It starts no processes, touches no files and has never heard of an editor.
//
// A run's bytes go through Lines, a Decoder and a Summary; Reader ties the
// three together. Slices that are handed to callbacks are valid until the
// callback returns; events hold copies and may be kept.
package stream
