package stream

import (
	"strings"
)

var (
	eventBlock = lazy(`(?s)<event\b([^>]*?)(?:/>|>(.*?)</event>)`)
	attribute  = lazy(`([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// Topics returns the <event topic="..." target="...">payload</event> blocks of
// a text in their order. Blocks without a topic are none.
func Topics(text string) []Topic {
	if !strings.Contains(text, "<event") {
		return nil
	}
	var topics []Topic
	for _, block := range eventBlock().FindAllStringSubmatch(text, -1) {
		t := Topic{Payload: strings.TrimSpace(block[2])}
		for _, a := range attribute().FindAllStringSubmatch(block[1], -1) {
			switch a[1] {
			case "topic":
				t.Topic = a[2] + a[3]
			case "target":
				t.Target = a[2] + a[3]
			}
		}
		if t.Topic != "" {
			topics = append(topics, t)
		}
	}
	return topics
}

// withoutTopics returns text without its event blocks.
func withoutTopics(text string) string {
	if !strings.Contains(text, "<event") {
		return text
	}
	return eventBlock().ReplaceAllString(text, "")
}
