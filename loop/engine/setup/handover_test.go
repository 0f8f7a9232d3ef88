package setup

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// filler sets each field of a value to something that isn't its zero value.
type filler struct {
	n      int
	faults []string
}

// fill is for one that is at a path, such as "Config.Backend.Name".
func (f *filler) fill(v reflect.Value, path string) {
	f.n++
	if v.Type() == reflect.TypeFor[limits.Duration]() { // milliseconds on the wire
		v.SetInt(int64(time.Duration(f.n) * time.Millisecond))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n%100 + 1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(f.n%100 + 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) / 8)
	case reflect.Pointer:
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

// computed are fields that the process which drives the loop finds out for itself.
var computed = []string{".planned"}

func (f *filler) fillStruct(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(int64(f.n), 0).UTC()))
		return
	}
	for i := range v.NumField() {
		field, at := v.Type().Field(i), path+"."+v.Type().Field(i).Name
		if field.IsExported() || field.Anonymous {
			f.fill(v.Field(i), at)
			continue
		}
		isComputed := false
		for _, c := range computed {
			isComputed = isComputed || strings.HasSuffix(at, c)
		}
		if !isComputed {
			f.faults = append(f.faults, at+" isn't exported, so it gets lost")
		}
	}
}

// All that a start is configured with arrives in the process that drives the loop.
func TestAConfigurationArrivesWhole(t *testing.T) {
	f := &filler{}
	var c Config
	f.fill(reflect.ValueOf(&c).Elem(), "Config")
	for _, fault := range f.faults {
		t.Error(fault)
	}
	if t.Failed() {
		return
	}
	arrives(t, c)
}

// Empty isn't none, and false isn't unsaid.
func TestNothingIsTakenForSomethingElse(t *testing.T) {
	var c Config
	arrives(t, c)
	c.Said.Instruct, c.Args, c.Backend.Hooks.Off = new(false), []string{}, []string{}
	c.Folder, c.Prompt = "/caf\xe9", "a\x00b\u2028</script>\ufffd"
	arrives(t, c)
	for _, name := range backends.Names() {
		b, err := backends.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c.Backend = b
		arrives(t, c)
	}
	c.Backend = backends.Custom("/bin/x", []string{"-y"}, backends.PromptFile, decode.FormatText)
	arrives(t, c)
}

// What can't be read is told without a word of what it says.
func TestABrokenConfigurationIsNotPrinted(t *testing.T) {
	for _, data := range []string{"", `{"Prompt": "secret`, `{"Prompt": ["secret"]}`, `{"Args": "secret"}`, `{"Limits": "secret"}`} {
		if _, err := Decode([]byte(data)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func arrives(t *testing.T, c Config) {
	t.Helper()
	data, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(string(data), '\n') {
		t.Errorf("it isn't one line: %q", data)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got, cmp.AllowUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}
