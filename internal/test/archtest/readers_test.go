package archtest

import (
	"os"
	"testing"
	"testing/fstest"
)

// readers are the packages that read updates past the one decoder, and why they may.
var readers = map[string]string{
	"fleet/livelog":     "it writes a note in the place of a line that is too long, and knows no room of the loop's",
	"stream/decode":     "it reads what agents say in that protocol",
	"internal/test/...": "clients as others write them",
}

func TestOurOwnJSONIsReadByTheTypesThatWriteIt(t *testing.T) {
	problems, err := Readers(os.DirFS(root), "wire", readers)
	report(t, problems, err)
}

func TestReadersFindsWhoReadsOurJSONByItself(t *testing.T) {
	const shapes = "package wire\n\ntype End struct { Kind string `json:\"sessionUpdate\"` }\n\ntype Question struct { Kind string `json:\"sessionUpdate,omitempty\"` }\n"
	in := func(body string) string { return "package a\n\nfunc f() {\n\t" + body + "\n}\n" }
	tests := []struct{ name, file, content, want string }{
		{"a struct with the key", "a/a.go", "package a\n\ntype t struct { Kind string `json:\"sessionUpdate,omitempty\"` }\n", "a/a.go:3:8: updates are read by wire.Decode"},
		{"a field of that name", "a/a.go", in("var u struct{ SessionUpdate, Phase string }"), "a/a.go:4:8: updates are read"},
		{"a field of that name with another key", "a/a.go", in("var u struct{ SessionUpdate string `json:\"other\"` }"), ""},
		{"in a test", "a/a_test.go", in("var u struct{ SessionUpdate string }"), ""},
		{"below the wire", "wire/answers/a.go", in("var u struct{ SessionUpdate string }"), ""},
		{"an update that is unmarshaled", "a/a.go", in("var u wire.End\n\tjson.Unmarshal(line, &u)"), "a/a.go:5:2: updates are read by wire.Decode"},
		{"one by a decoder", "a/a.go", in("var u wire.End\n\tdec.Decode(&u)"), "a/a.go:5:2"},
		{"what is an update or a request", "a/a.go", in("var u wire.Question\n\tjson.Unmarshal(line, &u)"), ""},
		{"the one decoder", "a/a.go", in("u := wire.Decode(line)"), ""},
		{"the head of one", "a/a.go", in("bytes.HasPrefix(line, []byte(`{\"sessionUpdate\":\"tool_call\"`))"), "a/a.go:4:31: what an update is, wire.KindOf says"},
		{"the key of a map", "a/a.go", in("send(map[string]any{\"sessionUpdate\": 1})"), ""},
		{"a program", "a/a.go", in("exec.Command(name, func() {})"), ""},
		{"a free one", "b/a.go", in("var u struct{ SessionUpdate string }"), ""},
		{"one that needn't be free", "b/a.go", "package b\n", "b reads none of our JSON by itself, so it needn't be free to"},
		{"no Go at all", "a/a.go", "func {", "reading decoders"},
	}
	for _, tt := range tests {
		free := map[string]string{}
		if tt.file == "b/a.go" {
			free["b"] = "a reason"
		}
		files := fstest.MapFS{"wire/wire.go": {Data: []byte(shapes)}, tt.file: {Data: []byte(tt.content)}}
		problems, err := Readers(files, "wire", free)
		compare(t, tt.name, problems, err, tt.want)
	}
}
