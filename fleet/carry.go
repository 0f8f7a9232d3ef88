package fleet

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// rest is what a JSON object has that this version doesn't know. It stays with what it came
// with, so that an older worker drops nothing of what a newer one wrote.
type rest map[string]json.RawMessage

// read reads an object into the struct that into points to, and returns the rest of it.
func read(data []byte, into any) (rest, error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if strict.Decode(into) == nil { // nearly always: what is written here
		return nil, nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	var unknown rest
	if err := json.Unmarshal(data, &unknown); err != nil {
		return nil, err
	}
	for _, name := range namesOf(reflect.TypeOf(into).Elem()) {
		delete(unknown, name)
	}
	return unknown, nil
}

// write makes an object of a struct and a rest.
func write(known any, unknown rest) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(unknown) == 0 {
		return data, err
	}
	more, err := json.Marshal(unknown)
	if err != nil || len(data) == len("{}") {
		return more, err
	}
	return slices.Concat(data[:len(data)-1], []byte{','}, more[1:]), nil
}

var knownNames sync.Map // of a reflect.Type, a []string

// namesOf are the keys that a struct reads and writes.
func namesOf(t reflect.Type) []string {
	if names, ok := knownNames.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	knownNames.Store(t, names)
	return names
}

// features are what this version can do beyond what keys that may be left out say. What would come to
// harm with a worker that doesn't know of it has its name here, and in the Needs of what it is in.
var features []string

// lacks names what something needs and this version can't do; "" is nothing.
func lacks(needs []string) string {
	unknown := slices.DeleteFunc(slices.Clone(needs), func(n string) bool { return slices.Contains(features, n) })
	return strings.Join(unknown, ", ")
}

// UnmarshalJSON reads a record of any version.
func (r *Record) UnmarshalJSON(data []byte) (err error) {
	type known Record
	r.rest, err = read(data, (*known)(r))
	return err
}

// MarshalJSON writes it with all that it came with.
func (r Record) MarshalJSON() ([]byte, error) {
	type known Record
	return write(known(r), r.rest)
}

// MarshalJSON writes the record with one key more.
func (s Submitted) MarshalJSON() ([]byte, error) {
	type known Record
	return write(struct {
		known
		IsNew bool `json:"new"`
	}{known(s.Record), s.IsNew}, s.rest)
}

// UnmarshalJSON reads a ledger of any version.
func (l *Ledger) UnmarshalJSON(data []byte) (err error) {
	type known Ledger
	l.rest, err = read(data, (*known)(l))
	return err
}

// MarshalJSON writes it with all that it came with.
func (l Ledger) MarshalJSON() ([]byte, error) {
	type known Ledger
	return write(known(l), l.rest)
}

// UnmarshalJSON reads limits of any version.
func (l *Limits) UnmarshalJSON(data []byte) (err error) {
	type known Limits
	l.rest, err = read(data, (*known)(l))
	return err
}

// MarshalJSON writes them with all that they came with.
func (l Limits) MarshalJSON() ([]byte, error) {
	type known Limits
	return write(known(l), l.rest)
}

// UnmarshalJSON reads a reservation of any version.
func (r *Reservation) UnmarshalJSON(data []byte) (err error) {
	type known Reservation
	r.rest, err = read(data, (*known)(r))
	return err
}

// MarshalJSON writes it with all that it came with.
func (r Reservation) MarshalJSON() ([]byte, error) {
	type known Reservation
	return write(known(r), r.rest)
}

// UnmarshalJSON reads a minute of any version.
func (m *Minute) UnmarshalJSON(data []byte) (err error) {
	type known Minute
	m.rest, err = read(data, (*known)(m))
	return err
}

// MarshalJSON writes it with all that it came with.
func (m Minute) MarshalJSON() ([]byte, error) {
	type known Minute
	return write(known(m), m.rest)
}
