// Package decode turns the output of a coding agent into events: the lines of pi, claude and the other
// agents that have a stream of their own, in any version that is about, and plain text.
//
// Reader pumps one run: stream/lines splits, a Decoder for each format reads each line (those of pi and
// claude, which are many, with a lazy cursor instead of unmarshalling them), and summary folds the
// events into a Result. What decoders of agents with few lines share is in common.go. Slices that are
// handed to callbacks are valid until the callback returns.
package decode
