// Package stream has the small set of events that the output of every coding agent becomes, and the result of a run.
// It also says what an agent's error message means, and which text may be shown anywhere.
//
// It starts no processes, touches no files and has never heard of an editor. stream/decode makes events of an agent's
// bytes; stream/promises finds promises and topics in a message. Deltas are for showing; only the message that the
// agent closed counts. Events hold copies and may be kept.
package stream
