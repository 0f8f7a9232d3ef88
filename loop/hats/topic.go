package hats

import "unicode/utf8"

// Topic is work that one hat hands over to another.
type Topic struct {
	Name    string
	From    string // the hat that published it, "" for the loop itself
	For     string // the hat that it is for; "" for whoever listens
	Payload string // at most MaxPayload bytes
}

// Head is the topic without its payload: "plan.ready from planner for builder".
func (t Topic) Head() string {
	text := t.Name
	if t.From != "" {
		text += " from " + t.From
	}
	if t.For != "" {
		text += " for " + t.For
	}
	return text
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
