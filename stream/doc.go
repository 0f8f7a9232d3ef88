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
//
// Reader pumps one run: Lines splits, a Decoder for each format reads each line (those of pi and
// claude, which are many, with a lazy cursor instead of unmarshalling them), deltas that came in
// one read become one event, Summary folds the events into a Result, and Completion.Judge says
// whether that fulfils the promise, or nearly does. mention.go finds tags and word, topic.go the
// topics that are published by the same rules, markup.go the code, quotes, lists and comments that
// they may stand in, sentence.go the sentences. Deltas are for the eye; what counts is the message
// that the agent closed.
package stream
