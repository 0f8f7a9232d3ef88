package fleet

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// rest is what a JSON object has that this version doesn't know. It stays with what it came
// with, so that an older worker drops nothing of what a newer one wrote.
type rest = jsontext.Value

// asKnown has values written and read as encoding/json does, which knows of no rest.
var asKnown = jsonv1.DefaultOptionsV1()

// features are what this version can do beyond what keys that may be left out say. What would come to
// harm with a worker that doesn't know of it has its name here, and in the Needs of what it is in.
var features []string

// lacks names what something needs and this version can't do; "" is nothing.
func lacks(needs []string) string {
	unknown := slices.DeleteFunc(slices.Clone(needs), func(n string) bool { return slices.Contains(features, n) })
	return strings.Join(unknown, ", ")
}

// UnmarshalJSON reads a record of any version.
func (r *Record) UnmarshalJSON(data []byte) error {
	type known Record
	r.Rest = nil
	return json.Unmarshal(data, (*known)(r), asKnown)
}

// MarshalJSON writes it with all that it came with.
func (r Record) MarshalJSON() ([]byte, error) {
	type known Record
	return json.Marshal(known(r), asKnown)
}

// MarshalJSON writes the record with one key more.
func (s Submitted) MarshalJSON() ([]byte, error) {
	type known Record
	return json.Marshal(struct {
		known
		IsNew bool `json:"new"`
	}{known(s.Record), s.IsNew}, asKnown)
}

// UnmarshalJSON reads a ledger of any version.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	type known Ledger
	l.Rest = nil
	return json.Unmarshal(data, (*known)(l), asKnown)
}

// MarshalJSON writes it with all that it came with.
func (l Ledger) MarshalJSON() ([]byte, error) {
	type known Ledger
	return json.Marshal(known(l), asKnown)
}

// UnmarshalJSON reads limits of any version.
func (l *Limits) UnmarshalJSON(data []byte) error {
	type known Limits
	l.Rest = nil
	return json.Unmarshal(data, (*known)(l), asKnown)
}

// MarshalJSON writes them with all that they came with.
func (l Limits) MarshalJSON() ([]byte, error) {
	type known Limits
	return json.Marshal(known(l), asKnown)
}

// UnmarshalJSON reads a reservation of any version.
func (r *Reservation) UnmarshalJSON(data []byte) error {
	type known Reservation
	r.Rest = nil
	return json.Unmarshal(data, (*known)(r), asKnown)
}

// MarshalJSON writes it with all that it came with.
func (r Reservation) MarshalJSON() ([]byte, error) {
	type known Reservation
	return json.Marshal(known(r), asKnown)
}

// UnmarshalJSON reads a minute of any version.
func (m *Minute) UnmarshalJSON(data []byte) error {
	type known Minute
	m.Rest = nil
	return json.Unmarshal(data, (*known)(m), asKnown)
}

// MarshalJSON writes it with all that it came with.
func (m Minute) MarshalJSON() ([]byte, error) {
	type known Minute
	return json.Marshal(known(m), asKnown)
}
