// Package stream is the small set of events that the output of every coding agent
// becomes, and what a run came to. It also says what an agent's error message means,
// and which text may be shown anywhere.
//
// It starts no processes, touches no files and has never heard of an editor. stream/decode makes
// events of an agent's bytes; stream/promises finds in a message what the agent promises and
// publishes. Deltas are for the eye; what counts is the message that the agent closed. Events hold
// copies and may be kept.
package stream
