package hats

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Topic is work that one hat hands over to another.
type Topic struct {
	Name    string
	From    string // the hat that published it, "" for the loop itself
	For     string // the hat that it is for; "" for whoever listens
	Payload string // at most MaxPayload bytes
}

// Head is the topic without its payload: "plan.ready from planner for builder".
func (t Topic) Head() string {
	t.Payload = ""
	return t.String()
}

// String is the topic as the state file has it: "plan.ready from planner for builder: the payload".
func (t Topic) String() string {
	text := t.Name
	if t.From != "" {
		text += " from " + t.From
	}
	if t.For != "" {
		text += " for " + t.For
	}
	if t.Payload != "" {
		text += ": " + t.Payload
	}
	return text
}

// ParseTopic reads what String writes, and what a user writes instead.
func ParseTopic(text string) (Topic, error) {
	head, payload, _ := strings.Cut(text, ":")
	words := strings.Fields(head)
	t := Topic{Payload: bounded(strings.TrimSpace(payload))}
	if len(words) > 0 {
		t.Name = words[0]
	}
	if why := CheckTopic(t.Name); why != "" {
		return t, fmt.Errorf("the topic %s", why)
	}
	for rest := words[1:]; len(rest) > 0; rest = rest[2:] {
		switch {
		case len(rest) > 1 && rest[0] == "from":
			t.From = rest[1]
		case len(rest) > 1 && rest[0] == "for":
			t.For = rest[1]
		default:
			return t, fmt.Errorf("%q isn't a topic; write TOPIC: payload, or TOPIC from HAT for HAT: payload", text)
		}
	}
	return t, nil
}

// bounded cuts a payload that is too long, between two characters.
func bounded(payload string) string {
	const note = " … (cut)"
	if len(payload) <= MaxPayload {
		return payload
	}
	cut := MaxPayload - len(note)
	for cut > 0 && !utf8.RuneStart(payload[cut]) {
		cut--
	}
	return payload[:cut] + note
}
