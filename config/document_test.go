package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAt has files with the cursor as ‸, and what is there: for what the place
// is, the path, and what would be replaced.
func TestAt(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"empty", "‸", "key  ''"},
		{"empty line of a table", "[limits]\n‸\n[hats]\n", "key limits. ''"},
		{"indented", "[limits]\n  ‸", "key limits. ''"},
		{"half a key", "[limits]\nmax_‸\n", "key limits.max_ 'max_'"},
		{"inside a key", "[limits]\nmax_‸iterations = 3\n", "key limits.max_iterations 'max_iterations' = 3"},
		{"before a key", "‸backend = 3\n", "key backend 'backend' = 3"},
		{"behind a dot", "limits.‸\n", "key limits. ''"},
		{"first part", "lim‸its.max_duration = 1\n", "key limits 'limits' = 1"},
		{"header", "[lim‸]\n", "header lim 'lim'"},
		{"open header", "[back‸\n", "header back 'back'"},
		{"header's second part", "[backends.p‸]\n", "header backends.p 'p'"},
		{"behind a header", "[limits]‸\n", "nowhere"},
		{"behind =", "[limits]\nmax_iterations =‸\n", "value limits.max_iterations ''"},
		{"behind = and a blank", "[limits]\nmax_iterations = ‸\n", "value limits.max_iterations ''"},
		{"before a comment", "backend = ‸  # x\n", "value backend ''"},
		{"between = and the value", "backend =‸ \"pi\"\n", "value backend ' \"pi\"'"},
		{"in a value", "backend = \"p‸i\" # x\n", "value backend '\"pi\"'"},
		{"in an open text", "backend = \"p‸\n", "value backend '\"p'"},
		{"comment", "# back‸\n", "nowhere"},
		{"comment behind a value", "backend = \"pi\" # x‸\n", "nowhere"},
		{"inline table", "hats.a.backend = { ‸ }\n", "key hats.a.backend. ''"},
		{"inline table, behind a comma", "hats.a.backend = { type = \"pi\", ‸ }\n", "key hats.a.backend. ''"},
		{"key in an inline table", "hats.a.backend = { ty‸ = 1 }\n", "key hats.a.backend.ty 'ty' = 1"},
		{"value in an inline table", "hats.a.backend = { type = \"‸\" }\n", "value hats.a.backend.type '\"\"'"},
		{"long text", "completion.promise = '''\n[x]\na‸ = 1'''\n", "value completion.promise ''''\n[x]\na = 1''''"},
		{"CRLF", "[limits]\r\n‸\r\n", "key limits. ''"},
	}
	names := map[Where]string{Nowhere: "nowhere", InKey: "key", InHeader: "header", InValue: "value"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			offset := strings.Index(tt.file, "‸")
			file := strings.ReplaceAll(tt.file, "‸", "")
			place := Parse([]byte(file)).At(offset)
			got := names[place.Where]
			if place.Where != Nowhere {
				got += " " + strings.Join(place.Path, ".") + " '" + file[place.Start:place.End] + "'"
			}
			if place.Where == InKey && place.Closed {
				got += " = " + place.Value
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	var got []string
	for _, r := range Parse([]byte(good)).References(func(k Key) bool { return k.Type == Backend }) {
		got = append(got, r.Name+" "+good[r.Start:r.End])
	}
	want := []string{`mine "mine"`, `pi "pi"`, `claude "claude"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("backends named (-want +got):\n%s", diff)
	}
}

func TestHas(t *testing.T) {
	d := Parse([]byte("[limits]\nmax_duration = 1\nbackends.pi.args = []\n"))
	for path, want := range map[string]bool{
		"limits": true, "limits.max_duration": true, "limits.backends.pi": true, "limits.max_iterations": false, "backends": false,
	} {
		if got := d.Has(-1, strings.Split(path, ".")...); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if d.Has(strings.Index("[limits]\nmax_duration", "max"), "limits", "max_duration") {
		t.Error("the key's own place counts")
	}
}
