// Package promises reads what an agent promises and publishes in a message.
//
// Completion.Judge says whether a run's last message fulfils the promise, or nearly does. mention.go
// finds tags, event blocks and the word, and puts marks in their places; place.go and blocks.go find out
// what those stand in, sentence.go what the lines beside them say. topic.go has the topics.
package promises
