package jsoncursor

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 10_000

// valid says whether data is one whole JSON value.
func valid(data []byte) bool {
	c := New(data)
	blank := c.Done()
	c.Skip()
	return !blank && c.Done()
}

// nested returns arrays in each other, levels deep.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func TestCursorReadsInAnyOrderAndSkipsTheRest(t *testing.T) {
	for _, in := range []string{
		`{"id":"x","n":12,"ok":true,"list":["a","b"],"more":{"deep":[1,{"z":null}]}}`,
		`{"list":["a",5,{"q":"}"}],"more":[],"ok":true,"n":12,"id":"x","list":["a","b"]}`,
		" { \"more\" : \"\\\\\" , \"id\"\t: \"x\" , \"n\" : 12.0 , \"ok\" : true , \"list\" : [ \"a\" , \"b\" ] } \r\n",
		`{"\u0069d":"\u0078","n":1.2e1,"ok":true,"list":["a","b"]}`,
		"\uFEFF" + `{"id":"x","n":12,"ok":true,"list":["a","b"]}`,
	} {
		var id string
		var n int64
		var ok bool
		var list []string
		c := New([]byte(in))
		for o := c.Object(); o.Next(); {
			switch string(o.Key) {
			case "id":
				id = c.Text()
			case "n":
				n = c.Count()
			case "ok":
				ok = c.Bool()
			case "list":
				list = nil
				for a := c.Array(); a.Next(); {
					if s := c.Text(); s != "" {
						list = append(list, s)
					}
				}
			}
		}
		if !c.Done() || id != "x" || n != 12 || !ok || strings.Join(list, "") != "ab" {
			t.Errorf("%s: read id %q, n %d, ok %t, list %q, done %t", in, id, n, ok, list, c.Done())
		}
	}
}

func TestCursorTakesOtherTypesForNothing(t *testing.T) {
	c := New([]byte(`[{"a":1}, [2], "s", 3, null, -4, 1e300]`))
	var got []any
	for a := c.Array(); a.Next(); {
		switch len(got) {
		case 0:
			got = append(got, c.Text())
		case 1:
			o := c.Object()
			got = append(got, o.Next())
		case 2:
			got = append(got, c.Count())
		case 3:
			got = append(got, c.RawText() == nil)
		case 4:
			got = append(got, c.Bool())
		default:
			got = append(got, c.Count())
		}
	}
	want := []any{"", false, int64(0), true, false, int64(0), int64(0)}
	if !c.Done() || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v, done %t", got, want, c.Done())
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]struct {
		number, amount float64
		count          int64
	}{
		`0`:                  {},
		`-0`:                 {},
		`12`:                 {12, 12, 12},
		`12.9`:               {12.9, 12.9, 12},
		`1.2E+1`:             {12, 12, 12},
		`5e-324`:             {5e-324, 5e-324, 0},
		`-4`:                 {number: -4},
		`9007199254740992`:   {1 << 53, 1 << 53, 1 << 53},
		`1e300`:              {1e300, 1e300, 0},
		`1e999`:              {},
		`"12"`:               {},
		`null`:               {},
		`[1]`:                {},
		`{"a":1}`:            {},
		` 12 `:               {12, 12, 12},
		`0.1000000000000001`: {0.1000000000000001, 0.1000000000000001, 0},
	} {
		number, isNumber := New([]byte(in)).Number()
		amount, isAmount := New([]byte(in)).Amount()
		count := New([]byte(in)).Count()
		if number != want.number || amount != want.amount || count != want.count {
			t.Errorf("%s read as %v, %v and %v", in, number, amount, count)
		}
		var std *float64 // stays nil for null
		wantNumber := json.Unmarshal([]byte(in), &std) == nil && std != nil
		if isNumber != wantNumber || isAmount != (wantNumber && number >= 0) {
			t.Errorf("%s: number %t, amount %t", in, isNumber, isAmount)
		}
	}
}

// TestStringsOfAnyLength puts an escape anywhere, and what looks like an end.
func TestStringsOfAnyLength(t *testing.T) {
	for length := range 100 {
		plain := strings.Repeat("é", length/2) + strings.Repeat("x", length%2)
		for at := 0; at <= len(plain); at += 2 {
			for _, escape := range []string{``, `\"`, `\\`, `\\\"`} {
				raw := plain[:at] + escape + plain[at:]
				for _, rest := range []string{"", `,"`, ` , "more": "text"`} {
					c := New([]byte(`"` + raw + `"` + rest))
					if got := c.RawText(); string(got) != raw || c.Pos() != len(raw)+2 {
						t.Fatalf("%q with %q behind it read as %q", raw, rest, got)
					}
				}
				if c := New([]byte(`"` + raw)); c.RawText() != nil || !c.Broken() {
					t.Fatalf("%q without its end was read", raw)
				}
			}
		}
	}
}

func TestRawIsTheValueAsItStandsThere(t *testing.T) {
	values := []string{`"a\"b"`, `-1.5e3`, `[ 1, {"x":"]"} ]`, `{"k" : [ ] }`, `null`, `""`}
	data := []byte("[ " + strings.Join(values, " ,\t") + " ]")
	c := New(data)
	i := 0
	for a := c.Array(); a.Next(); i++ {
		raw := string(c.Raw())
		if start := c.Pos() - len(raw); raw != values[i] || string(data[start:c.Pos()]) != raw {
			t.Errorf("%q at %d to %d, want %q", raw, start, c.Pos(), values[i])
		}
	}
	if i != len(values) || !c.Done() {
		t.Errorf("%d values, done %t", i, c.Done())
	}
	if raw := New([]byte(`{"a":[}`)).Raw(); raw != nil {
		t.Errorf("a broken value read as %q", raw)
	}
}

func TestCursorFindsBrokenJSON(t *testing.T) {
	for _, in := range []string{
		"", " \n", "{", "}", "[", "{]", "[}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`,
		`{"a" 1}`, `{a:1}`, `{"a":"b}`, `"\"`, `tru`, `nul`, `+`, `{"a":1}}`, `{"a":1} x`, `{} {}`, `{"a":truefalse}`, "\x00", "1\x00",
		"\v1", "[\uFEFF]",
		nested(maxDepth + 1),
		strings.Repeat(`{"a":`, 1_000_000),
	} {
		if valid([]byte(in)) {
			t.Errorf("%.40q passes for JSON", in)
		}
	}
	for _, in := range []string{nested(maxDepth), "[" + nested(maxDepth-1) + "," + nested(maxDepth-1) + "]", "\uFEFF[]"} {
		if !valid([]byte(in)) {
			t.Errorf("%.40q doesn't pass for JSON", in)
		}
	}
}

func TestNothingIsReadBehindBrokenJSON(t *testing.T) {
	c := New([]byte(`{"a":1,"b":[tru,"x"],"c":2}`))
	var keys, texts []string
	for o := c.Object(); o.Next(); {
		keys = append(keys, string(o.Key))
		for a := c.Array(); a.Next(); {
			texts = append(texts, c.Text())
		}
	}
	if strings.Join(keys, "") != "ab" || strings.Join(texts, "") != "" || !c.Broken() || c.Done() || c.Text() != "" || c.Raw() != nil {
		t.Errorf("read the keys %q and the texts %q, broken %t", keys, texts, c.Broken())
	}
}

// decode reads the value at the cursor as encoding/json does.
func decode(c *Cursor) any {
	switch c.Peek() {
	case '{':
		members := map[string]any{}
		for o := c.Object(); o.Next(); {
			key := string(o.Key)
			members[key] = decode(c)
		}
		return members
	case '[':
		elements := []any{}
		for a := c.Array(); a.Next(); {
			elements = append(elements, decode(c))
		}
		return elements
	case '"':
		return c.Text()
	case 't', 'f':
		return c.Bool()
	case 'n':
		c.Skip()
		return nil
	}
	f, _ := c.Number()
	return f
}

// FuzzCursor compares values with what encoding/json reads. That is stricter
// about numbers and strings, but what it takes for valid is valid here.
func FuzzCursor(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\ud83d",{"b":null}],"c":"\\"}`))
	f.Add([]byte(`["a\"b", -1.5e3 ]`))
	f.Add([]byte(` {"\u0061" : {}, "a":[[], false], "":true}`))
	f.Add([]byte("\uFEFF{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(data)
		got := decode(c)
		if c.Broken() && (c.Done() || c.Pos() != len(data)) {
			t.Errorf("%q is broken, and there is more to read", data)
		}
		depth := strings.Count(string(data), "[") + strings.Count(string(data), "{")
		if !json.Valid(data) || depth > maxDepth {
			return
		}
		if !c.Done() || !valid(data) {
			t.Fatalf("%q is valid JSON", data)
		}
		var want any
		if utf8.Valid(data) && json.Unmarshal(data, &want) == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q read as %#v, want %#v", data, got, want)
		}
	})
}

func TestMembers(t *testing.T) {
	type read struct {
		text    string
		flag    bool
		n       int64
		raw     string
		visited int
	}
	for in, want := range map[string]read{
		`{"n":7.9,"other":{"text":"no"},"text":"a\n","flag":true,"raw": [1, 2] ,"visit":{}}`: {"a\n", true, 7, "[1, 2]", 1},
		`{"text":"a","text":"b","visit":1,"visit":2}`:                                        {text: "b", visited: 2},
		`{"text":1,"flag":"x","n":"y"}`:                                                      {},
		`{}`:                                                                                 {},
		`["text","a"]`:                                                                       {},
		`"text"`:                                                                             {},
	} {
		var got read
		var raw []byte
		c := New([]byte(in))
		c.Members("text", &got.text, "flag", &got.flag, "n", &got.n, "raw", &raw, "visit", func() { got.visited++ }, "text", new(string))
		if got.raw = string(raw); got != want || !c.Done() {
			t.Errorf("%s: %+v, done %t", in, got, c.Done())
		}
	}
	broken := New([]byte(`{"text":"a",}`))
	if broken.Members("text", new(string)); broken.Done() {
		t.Error("broken JSON is whole")
	}
}
