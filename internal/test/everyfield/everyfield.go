// Package everyfield makes values of which no field is zero, so that a test sees which one gets lost on its way to
// another process.
package everyfield

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Fill sets each field of what a pointer leads to. It names those that can't be sent, but for unexported ones whose paths
// end so. A pointer to a struct that it is in, as of a list, stays nil.
func Fill(to any, skipped ...string) (faults []string) {
	f := &filler{skipped: skipped}
	v := reflect.ValueOf(to).Elem()
	f.fill(v, v.Type().Name())
	return f.faults
}

// filler sets each field of a value to something that isn't its zero value.
type filler struct {
	n       int
	faults  []string
	skipped []string
	around  []reflect.Type // structs that the value is in
}

// fill is for one that is at a path, such as "Config.Backend.Name".
func (f *filler) fill(v reflect.Value, path string) {
	f.n++
	switch v.Type() {
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes(fmt.Appendf(nil, `"text %d"`, f.n))
		return
	}
	switch v.Kind() {
	case reflect.Int64:
		v.SetInt(int64(f.n%100 + 1))
		if v.Type().Implements(reflect.TypeFor[json.Marshaler]()) { // a time, in milliseconds on the wire
			v.SetInt(int64(time.Duration(f.n) * time.Millisecond))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		v.SetInt(int64(f.n%100 + 1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(f.n%100 + 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) / 8)
	case reflect.Pointer:
		if slices.Contains(f.around, v.Type().Elem()) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			f.fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, path+" key")
		f.fill(value, path+" value")
		v.SetMapIndex(key, value)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			f.faults = append(f.faults, path+" is an interface, which nobody can send")
			return
		}
		v.Set(reflect.ValueOf(fmt.Sprint("text ", f.n)))
	case reflect.Struct:
		f.fillStruct(v, path)
	default:
		f.faults = append(f.faults, fmt.Sprintf("%s is a %s, which nobody can send", path, v.Kind()))
	}
}

func (f *filler) fillStruct(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(int64(f.n), 0).UTC()))
		return
	}
	f.around = append(f.around, v.Type())
	defer func() { f.around = f.around[:len(f.around)-1] }()
	for i := range v.NumField() {
		field, at := v.Type().Field(i), path+"."+v.Type().Field(i).Name
		if field.IsExported() || field.Anonymous {
			f.fill(v.Field(i), at)
			continue
		}
		if !slices.ContainsFunc(f.skipped, func(s string) bool { return strings.HasSuffix(at, s) }) {
			f.faults = append(f.faults, at+" isn't exported, so it gets lost")
		}
	}
}
