// Package decode turns the output of a coding agent into events: the lines of pi, claude and the other
// agents that have a stream of their own, in any version that is about, and plain text.
//
// Reader reads one run: stream/lines splits, a Decoder for each format reads each line (pi's and claude's, which are
// many, with a lazy cursor instead of unmarshalling them), and summary folds the events into a Result. common.go has
// what decoders of agents with few lines share. Slices that callbacks get are valid until the callback returns.
package decode
