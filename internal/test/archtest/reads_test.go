package archtest

import (
	"os"
	"testing"
)

// free are the packages that open files by os itself, and why they may.
var free = map[string]string{
	"internal/regular":      "all others do so by it",
	"internal/test/...":     "what tests have made",
	"internal/caller":       "files of the kernel about a process",
	"internal/control":      "its own pipes on Windows",
	"backends/reaper":       "files of the kernel, before anything of the program is initialised",
	"keeper/client":         "the null device",
	"sandbox/inside":        "it is behind the walls",
	"cmd/ralph-lsp":         "what its user names on the command line",
	"fleet/cmd/ralph-fleet": "what its user names on the command line",
	"cmd/internal/demo":     "the folder that the demo has made",
}

func TestNothingIsOpenedThatMayBeAnything(t *testing.T) {
	problems, err := Unbounded(os.DirFS(root), free)
	report(t, problems, err)
}

func TestUnboundedFindsWhatMayBeAnything(t *testing.T) {
	in := func(body string) string {
		return "package a\n\nfunc f(given *os.Root) {\n\topened, err := os.OpenRoot(\"x\") // free here\n\t" + body + "\n}\n"
	}
	tests := []struct{ name, file, content, want string }{
		{"a read", "a/a.go", "package a\n\nvar x, _ = os.ReadFile(name)\n", "a/a.go:3:12: an agent may have put anything there"},
		{"in a test", "a/a_test.go", "package a\n\nvar x, _ = os.ReadFile(name)\n", ""},
		{"by regular", "a/a.go", "package a\n\nvar x, _ = regular.Read(name, 1)\n", ""},
		{"a new file", "a/a.go", "package a\n\nvar x, _ = os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)\n", ""},
		{"one that isn't new", "a/a.go", "package a\n\nvar x, _ = os.OpenFile(name, os.O_CREATE, 0)\n", "a/a.go:3:12"},
		{"a root's", "a/a.go", "package a\n\nfunc f(in *os.Root) { in.ReadFile(name) }\n", "a/a.go:3:23"},
		{"a field's", "a/a.go", "package a\n\ntype t struct{ in *os.Root }\n\nfunc (x t) f() { x.in.Open(name) }\n", "a/a.go:5:18"},
		{"an opened root's", "a/a.go", "package a\n\nfunc f() {\n\tin, err := regular.OpenRoot(name)\n\tin.OpenFile(name, 0, 0)\n}\n", "a/a.go:5:2"},
		{"another thing that opens", "a/a.go", "package a\n\nvar x = loopstate.Open(name)\n", ""},
		{"a free one", "b/a.go", in("opened.ReadFile(name)"), ""},
		{"one that needn't be free", "b/a.go", "package b\n", "b opens nothing, so it needn't be free to"},
		{"no Go at all", "a/a.go", "func {", "reading calls"},
	}
	for _, tt := range tests {
		free := map[string]string{}
		if tt.file == "b/a.go" {
			free["b"] = "a reason"
		}
		problems, err := Unbounded(tree(tt.file, tt.content), free)
		compare(t, tt.name, problems, err, tt.want)
	}
}
