package wire

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// sources are the files of a package, and of its answers where it has such.
func sources(t *testing.T, dir string) (files []string) {
	t.Helper()
	for _, in := range []string{dir, filepath.Join(dir, "answers")} {
		some, err := filepath.Glob(filepath.Join(in, "*.go"))
		must.OK(t, err)
		files = append(files, some...)
	}
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// constants returns the string constants of a package's files whose name
// begins with prefix, from its source, so that none can be forgotten.
func constants(t *testing.T, dir, prefix string) []string {
	t.Helper()
	var values []string
	for _, name := range sources(t, dir) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must.OK(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if strings.HasPrefix(name.Name, prefix) && i < len(spec.Values) {
					if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						value, _ := strconv.Unquote(lit.Value)
						values = append(values, value)
					}
				}
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatalf("no constant %s... in %s", prefix, dir)
	}
	return values
}

// wireNames are the words of the wire by what they name, as names.json has them
// for the tests of the editors' plugins.
type wireNames struct {
	Version     int      `json:"version"`
	Commands    []string `json:"commands"`
	Methods     []string `json:"methods"`
	Updates     []string `json:"updates"` // values of sessionUpdate
	Reasons     []string `json:"reasons"` // of a request that failed
	StopReasons []string `json:"stopReasons"`
}

func namesOf(t *testing.T) wireNames {
	sorted := func(dir, prefix string) []string {
		return slices.Compact(slices.Sorted(slices.Values(constants(t, dir, prefix))))
	}
	return wireNames{Version, sorted(".", "Command"), sorted(".", "Method"), sorted(".", "Kind"), sorted(".", "Reason"), sorted("../loop", "Stop")}
}

// all are the names that docs/PROTOCOL.md must explain.
func (n wireNames) all() []string {
	return slices.Concat(n.Commands, n.Methods, n.Updates, n.Reasons, n.StopReasons)
}

// document is what authors of clients have: docs/PROTOCOL.md, and behind it the types.
func document(t *testing.T) []byte {
	t.Helper()
	page := must.Read(t, "../docs/PROTOCOL.md")
	types := must.Read(t, "../docs/protocol.ts")
	for line := range strings.Lines(string(types)) {
		page = fmt.Appendf(page, "`%s`\n", strings.TrimSpace(line)) // as code of the page
	}
	return page
}

// unexplained tells which names are only in the code, or only in the document.
func unexplained(t *testing.T) (problems []string) {
	t.Helper()
	names := namesOf(t).all()
	for _, l := range limits.All() {
		names = append(names, l.Wire)
	}
	for _, s := range settings.All() {
		names = append(names, s.Wire)
	}
	return compareNames(string(document(t)), names)
}

func TestAMissingNameIsFound(t *testing.T) {
	doc := "`ralph.loop.start` and `ralph.loop.gone`"
	got := compareNames(doc, []string{"ralph.loop.start", "_ralph/new"})
	want := []string{"_ralph/new is in the code and not in the document", "ralph.loop.gone is in the document and not in the code"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

var quoted = regexp.MustCompile("`([^`\n]+)`")

// ours matches words of the document that can only be names of the wire.
var ours = regexp.MustCompile(`^(ralph\.[a-z.]+|_?ralph/[a-zA-Z]+)$`)

// compareNames tells which names are only in the code, or only in the document.
func compareNames(doc string, code []string) (problems []string) {
	inDoc := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(doc, -1) {
		for _, word := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" {}|,:\"?;()[]", r) }) {
			inDoc[strings.TrimSuffix(word, ".")] = true
		}
	}
	for _, name := range code {
		if !inDoc[name] {
			problems = append(problems, name+" is in the code and not in the document")
		}
	}
	var words []string
	for word := range inDoc {
		words = append(words, word)
	}
	slices.Sort(words)
	for _, word := range words {
		if ours.MatchString(word) && word != "ralph.toml" && !slices.Contains(code, word) {
			problems = append(problems, word+" is in the document and not in the code")
		}
	}
	return problems
}

// keys are all keys of the package's messages, from the tags in its source, and those that a status has of loop's.
func keys(t *testing.T) []string {
	tag := regexp.MustCompile(`json:"(\w+)`)
	var all []string
	for _, name := range sources(t, ".") {
		source := must.Read(t, name)
		for _, m := range tag.FindAllSubmatch(source, -1) {
			all = append(all, string(m[1]))
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[LoopStatus]()) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			all = append(all, key)
		}
	}
	if len(all) < 100 {
		t.Fatalf("only %d keys", len(all))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
