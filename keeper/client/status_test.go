package client

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// fill gives each field that a status has, however deep, a value of its own kind.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 4 { // an end has a status, whose last end has one
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 29, 3, 4, 5, 6, time.UTC)))
			return
		}
		for _, f := range v.Fields() {
			if f.CanSet() {
				fill(f, depth)
			}
		}
	case reflect.Slice:
		if depth < 4 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), depth+1)
		} else if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7 * int64(time.Millisecond)) // a time is in milliseconds
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// A window shows what the keeper knows: nothing of a status is lost on the way.
func TestAStatusArrivesAsItIs(t *testing.T) {
	var want, got loop.Status
	fill(reflect.ValueOf(&want).Elem(), 0)
	want.Last.Status, want.Last.Unanswered = loop.Status{}, nil // no record has these
	data, err := json.Marshal(Frame{Kind: Status, Status: &want})
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{Status: &got}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Error(diff)
	}
}
