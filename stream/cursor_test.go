package stream

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCursorReadsInAnyOrderAndSkipsTheRest(t *testing.T) {
	for _, in := range []string{
		`{"id":"x","n":12,"ok":true,"list":["a","b"],"more":{"deep":[1,{"z":null}]}}`,
		`{"list":["a",5,{"q":"}"}],"more":[],"ok":true,"n":12,"id":"x","list":["a","b"]}`,
		" { \"more\" : \"\\\\\" , \"id\"\t: \"x\" , \"n\" : 12.0 , \"ok\" : true , \"list\" : [ \"a\" , \"b\" ] } \r\n",
		`{"\u0069d":"\u0078","n":1.2e1,"ok":true,"list":["a","b"]}`,
	} {
		var id string
		var n int64
		var ok bool
		var list []string
		c := newCursor([]byte(in))
		for o := c.object(); o.next(); {
			switch string(o.key) {
			case "id":
				id = c.text()
			case "n":
				n = c.integer()
			case "ok":
				ok = c.boolean()
			case "list":
				list = nil
				for a := c.array(); a.next(); {
					if s := c.text(); s != "" {
						list = append(list, s)
					}
				}
			}
		}
		if !c.done() || id != "x" || n != 12 || !ok || strings.Join(list, "") != "ab" {
			t.Errorf("%s: read id %q, n %d, ok %t, list %q, done %t", in, id, n, ok, list, c.done())
		}
	}
}

func TestCursorTakesOtherTypesForNothing(t *testing.T) {
	c := newCursor([]byte(`[{"a":1}, [2], "s", 3, null, -4, 1e300]`))
	var got []any
	for a := c.array(); a.next(); {
		switch len(got) {
		case 0:
			got = append(got, c.text())
		case 1:
			o := c.object()
			got = append(got, o.next())
		case 2:
			got = append(got, c.integer())
		case 3:
			got = append(got, c.str() == nil)
		case 4:
			got = append(got, c.boolean())
		default:
			got = append(got, c.integer())
		}
	}
	want := []any{"", false, int64(0), true, false, int64(0), int64(0)}
	if !c.done() || len(got) != len(want) {
		t.Fatalf("got %v, done %t", got, c.done())
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("value %d read as %v, want %v", i, got[i], want[i])
		}
	}
}

func TestCursorFindsBrokenJSON(t *testing.T) {
	for _, in := range []string{
		"{", "}", "[", "{]", "[}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`,
		`{"a" 1}`, `{a:1}`, `{"a":"b}`, `"\"`, `tru`, `nul`, `+`, `{"a":1}}`, `{"a":1} x`, `{} {}`, `{"a":truefalse}`, "\x00",
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		strings.Repeat(`{"a":`, 1_000_000),
	} {
		if err := checkLine([]byte(in)); err == nil {
			t.Errorf("%.40q passes for JSON", in)
		}
	}
	if deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth); checkLine([]byte(deep)) != nil {
		t.Errorf("%d levels must be allowed", maxDepth)
	}
}

func TestUnquote(t *testing.T) {
	for raw, want := range map[string]string{
		``:                         "",
		`plain état 日本語`:           "plain état 日本語",
		`\"\\\/\b\f\n\r\t`:         "\"\\/\b\f\n\r\t",
		`\u00e9\u0000\u2028`:       "é\x00\u2028",
		`\ud83d\ude00!`:            "😀!",
		`\uD83D\uDE00`:             "😀",
		`x\ud83d`:                  "x\uFFFD",
		`\ud83dx`:                  "\uFFFDx",
		`\ude00x`:                  "\uFFFDx",
		`\ud83d\ud83d\ude00`:       "\uFFFD😀",
		`\ud83d\n`:                 "\uFFFD\n",
		"a\xffb":                   "a\uFFFDb",
		"\\n\xe2\x82":              "\n\uFFFD",
		`\q\u12`:                   "\uFFFD\uFFFD12",
		`\u+123`:                   "\uFFFD+123",
		`ends with a backslash \`:  "ends with a backslash \uFFFD",
		strings.Repeat(`\\`, 1000): strings.Repeat(`\`, 1000),
	} {
		if got := unquote([]byte(raw)); got != want {
			t.Errorf("unquote(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestArenaStringsStayWhatTheyWere(t *testing.T) {
	var a arena
	var got, want []string
	for i := range 5000 {
		s := strings.Repeat(string(rune('a'+i%26)), i%700)
		got, want = append(got, a.string([]byte(s))), append(want, s)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("string %d became %q", i, got[i])
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\ud83d",{"b":null}],"c":"\\"}`))
	f.Add([]byte(`["a\"b", -1.5e3 ]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := checkLine(data)
		if json.Valid(data) && !strings.HasPrefix(string(data), "\uFEFF") && err != nil && strings.Count(string(data), "[")+strings.Count(string(data), "{") < maxDepth {
			t.Errorf("%q is valid JSON", data)
		}
		c := newCursor(data)
		got := c.text()
		var want string
		if utf8.Valid(data) && json.Unmarshal(data, &want) == nil && len(data) > 0 && data[0] == '"' && got != want {
			t.Errorf("%q read as %q, want %q", data, got, want)
		}
	})
}
