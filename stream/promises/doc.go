// Package promises reads what an agent promises and publishes in a message.
//
// Completion.Judge says whether a run's last message fulfils the promise, or nearly does. mention.go
// finds tags and word, topic.go the topics that are published by the same rules, markup.go the code,
// quotes, lists and comments that they may stand in, sentence.go the sentences.
package promises
