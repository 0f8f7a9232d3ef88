package wire_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// shapes are the folders of the packages whose structs have tags of the wire.
var shapes = []string{"wire", "wire/answers", "loop", "loop/ask", "loop/hats", "loop/start", "loop/verify", "stream",
	"internal/account", "internal/limits", "internal/settings", "workspace/changes"}

// renamed are types whose Go name says too little outside of its package.
var renamed = map[string]string{
	"settings.Values": "StartOptions", "limits.Given": "LoopLimits", "hats.Cost": "HatCost", "changes.Summary": "ChangeCounts",
	"account.List": "Lines", "account.Item": "Line", "wire.Promise": "PromiseMiss",
}

// plainTypes are types of the wire that aren't structs, as a client's author knows them.
var plainTypes = map[string]string{
	"string": "string", "bool": "boolean", "int": "number", "int64": "number", "float64": "number", "any": "unknown",
	"time.Time": "Time", "stream.Duration": "Ms", "limits.Duration": "Ms", "stream.Cost": "USD", "json.RawMessage": "unknown",
	"wire.WorktreeParam": "boolean | string", "loop.State": "State", "loop.StopReason": "StopReason", "byte": "byte", "time.Duration": "number",
}

// reference writes the tables of docs/PROTOCOL.md from the source of the packages.
type reference struct {
	types   map[string]*ast.TypeSpec // by package.Name
	docs    map[string]string        // of types and constants
	values  map[string]string        // of text constants, by package.Name
	of      map[string][]string      // the constants of a type of texts
	written map[string]bool
	later   []string // types that are used and not written yet
	structs []string // all, in the order of the source
	texts   []string // the constants, in the order of the source
	text    strings.Builder
}

func newReference(t *testing.T) *reference {
	t.Helper()
	r := &reference{types: map[string]*ast.TypeSpec{}, docs: map[string]string{}, values: map[string]string{}, of: map[string][]string{}, written: map[string]bool{}}
	for _, dir := range shapes {
		files, err := filepath.Glob("../" + dir + "/*.go")
		must.OK(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			must.OK(t, err)
			for _, d := range file.Decls {
				if d, ok := d.(*ast.GenDecl); ok {
					r.read(filepath.Base(dir), d)
				}
			}
		}
	}
	return r
}

// read remembers the types and constants of a declaration.
func (r *reference) read(pkg string, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			key := pkg + "." + s.Name.Name
			r.types[key], r.docs[key] = s, sentence(d.Doc, s.Name.Name)
			if _, ok := s.Type.(*ast.StructType); ok {
				r.structs = append(r.structs, key)
			}
		case *ast.ValueSpec:
			for i, name := range s.Names {
				if i >= len(s.Values) {
					continue
				}
				literal, ok := s.Values[i].(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					continue
				}
				key := pkg + "." + name.Name
				r.texts = append(r.texts, key)
				r.values[key], _ = strconv.Unquote(literal.Value)
				r.docs[key] = sentence(s.Doc, name.Name) + sentence(s.Comment, name.Name)
				if of, ok := s.Type.(*ast.Ident); ok {
					r.of[pkg+"."+of.Name] = append(r.of[pkg+"."+of.Name], strconv.Quote(r.values[key]))
				}
			}
		}
	}
}

// sentence is a comment in one line, without the name that it begins with.
func sentence(c *ast.CommentGroup, name string) string {
	text := strings.Join(strings.Fields(c.Text()), " ")
	return strings.TrimPrefix(text, name+" ")
}

var (
	goName    = regexp.MustCompile(`\b(?:[a-z]+\.)?[A-Z][A-Za-z]+\b`)
	onlyNames = regexp.MustCompile(`^[A-Z]\w+( or [A-Z]\w+)*$`)
	ofUnion   = regexp.MustCompile(`^(?:each )?an? (CancelWhen|Can|State|WaitReason)((?:, or "\w+")?)((?:: .*)?)$`)
	onlyTexts = regexp.MustCompile(`^"[^"]+"( or "[^"]+")*$`)
)

// comment is a comment with the values of constants and the keys of a struct in place of their Go names.
func (r *reference) comment(key, text string) string {
	keys := r.keysOf(key)
	return goName.ReplaceAllStringFunc(text, func(name string) string {
		of := name
		if !strings.Contains(of, ".") {
			of = key[:strings.Index(key, ".")+1] + name
		}
		if value, ok := r.values[of]; ok {
			return strconv.Quote(value)
		}
		if tag, ok := keys[name]; ok {
			return tag
		}
		return name
	})
}

// keysOf are the keys of a struct by the names of their fields.
func (r *reference) keysOf(key string) map[string]string {
	keys := map[string]string{}
	spec := r.types[key]
	if spec == nil {
		return keys
	}
	if of, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range of.Fields.List {
			for _, name := range f.Names {
				if tag, _ := tagOf(f); tag != "" {
					keys[name.Name] = tag
				}
			}
		}
	}
	return keys
}

// tagOf is a field's key, "" for none, and whether it may be missing.
func tagOf(f *ast.Field) (key string, isOptional bool) {
	if f.Tag == nil {
		return "", false
	}
	tag, _ := strconv.Unquote(f.Tag.Value)
	key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return strings.TrimPrefix(key, "-"), strings.HasPrefix(options, "omit")
}

// name is a type's name in the document; it is written later.
func (r *reference) name(key string) string {
	if !r.written[key] {
		r.written[key] = true
		r.later = append(r.later, key)
	}
	if n := renamed[key]; n != "" {
		return n
	}
	return key[strings.Index(key, ".")+1:]
}

// typeOf is a type as TypeScript has it.
func (r *reference) typeOf(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return r.typeOf(pkg, e.X)
	case *ast.ArrayType:
		element := r.typeOf(pkg, e.Elt)
		if element == "byte" {
			return "string"
		}
		if strings.Contains(element, " ") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case *ast.StructType:
		var keys []string
		for _, f := range e.Fields.List {
			name, _ := tagOf(f)
			keys = append(keys, name+": "+r.typeOf(pkg, f.Type))
		}
		return "{ " + strings.Join(keys, "; ") + " }"
	case *ast.MapType:
		return "Record<string, " + r.typeOf(pkg, e.Value) + ">"
	}
	key := keyOf(pkg, e)
	if plain, ok := plainTypes[strings.TrimPrefix(key, pkg+".")]; ok && !strings.Contains(strings.TrimPrefix(key, pkg+"."), ".") {
		return plain
	}
	if plain, ok := plainTypes[key]; ok {
		return plain
	}
	spec := r.types[key]
	if spec == nil {
		return "unknown"
	}
	own := key[:strings.Index(key, ".")]
	if spec.Assign.IsValid() {
		return r.typeOf(own, spec.Type)
	}
	switch under := spec.Type.(type) {
	case *ast.StructType:
		return r.name(key)
	case *ast.Ident:
		if values := r.of[key]; under.Name == "string" && len(values) > 0 {
			return strings.Join(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == `""` }), " | ")
		}
	}
	return r.typeOf(own, spec.Type)
}

// keyOf is the package and the name of a type.
func keyOf(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.StarExpr:
		return keyOf(pkg, e.X)
	}
	return ""
}

// alone are embedded structs that stand in the document once; all others are written into the struct that has them.
var alone = []string{"wire.Notice", "wire.End", "wire.LoopParams", "settings.Values", "limits.Given", "wire.Choices"}

// fields are the lines of a struct, and what it extends.
func (r *reference) fields(key string) (lines, extends []string) {
	pkg := key[:strings.Index(key, ".")]
	of, ok := r.types[key].Type.(*ast.StructType)
	if !ok {
		return nil, nil
	}
	for _, f := range of.Fields.List {
		if len(f.Names) == 0 {
			inner := keyOf(pkg, f.Type)
			if spec := r.types[inner]; spec != nil && spec.Assign.IsValid() {
				inner = keyOf(inner[:strings.Index(inner, ".")], spec.Type)
			}
			if slices.Contains(alone, inner) {
				extends = append(extends, r.name(inner))
				continue
			}
			more, also := r.fields(inner)
			if isPointer(f.Type) {
				for i := range more {
					more[i] = strings.Replace(strings.Replace(more[i], ":", "?:", 1), "??", "?", 1)
				}
			}
			lines, extends = append(lines, more...), append(extends, also...)
			continue
		}
		name, isOptional := tagOf(f)
		if name == "" {
			continue
		}
		kind := r.typeOf(pkg, f.Type)
		c := r.comment(key, sentence(f.Doc, f.Names[0].Name)+sentence(f.Comment, f.Names[0].Name))
		if c = strings.ReplaceAll(c, "nil", "absent"); isOptional && kind == "string" && !isPointer(f.Type) {
			c = strings.ReplaceAll(c, `""`, "absent")
		}
		if m := ofUnion.FindStringSubmatch(strings.TrimSpace(f.Comment.Text())); m != nil { // "each a Can", `a State, or "idle": ...`
			kind = m[1] + strings.ReplaceAll(m[2], ", or ", " | ") + strings.TrimPrefix(kind, "string")
			c = strings.TrimPrefix(m[3], ": ")
		}
		if onlyNames.MatchString(strings.TrimSpace(f.Comment.Text())) && onlyTexts.MatchString(c) { // it is always one of these
			kind, c = strings.ReplaceAll(c, " or ", " | "), ""
		}
		line := "  " + name + map[bool]string{true: "?"}[isOptional] + ": " + kind
		if c != "" {
			line += " // " + c
		}
		isSame := func(other string) bool {
			return strings.HasPrefix(other, "  "+name+":") || strings.HasPrefix(other, "  "+name+"?:")
		}
		lines = append(slices.DeleteFunc(lines, isSame), line)
	}
	return lines, extends
}

func isPointer(e ast.Expr) bool {
	_, ok := e.(*ast.StarExpr)
	return ok
}

var ofType = regexp.MustCompile(`^(is|are) `)

// write writes a struct.
func (r *reference) write(key string) {
	lines, extends := r.fields(key)
	head := "export interface " + r.name(key)
	if len(extends) > 0 {
		head += " extends " + strings.Join(extends, ", ")
	}
	doc := ofType.ReplaceAllString(strings.ReplaceAll(r.comment(key, r.docs[key]), "nil", "absent"), "")
	if len(lines) > 0 {
		lines = append([]string{""}, append(lines, "")...)
	}
	r.printf("\n// %s\n%s {%s}\n", upperFirst(doc), head, strings.Join(lines, "\n"))
}

func (r *reference) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// used writes the types that those written so far use.
func (r *reference) used() {
	for len(r.later) > 0 {
		key := r.later[0]
		r.later = r.later[1:]
		if _, ok := r.types[key].Type.(*ast.StructType); ok {
			r.write(key)
		}
	}
}

// union writes a type of texts with a line for each: those that begin with the prefix, in the order of their source.
func (r *reference) union(name, doc, prefix string) {
	r.printf("\n// %s\nexport type %s =\n", doc, name)
	for _, key := range r.texts {
		if strings.HasPrefix(key, prefix) && key != prefix && unicode.IsUpper(rune(key[len(prefix)])) {
			r.printf("  | %q%s\n", r.values[key], after(" // ", r.comment(key, r.docs[key])))
		}
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// events writes the updates: the structs that begin with SessionUpdate.
func (r *reference) events() {
	var names []string
	for _, key := range r.structs {
		if key == "wire.Other" || key == "wire.StatusUpdate" { // no client gets these
			continue
		}
		if f := r.types[key].Type.(*ast.StructType).Fields.List; strings.HasPrefix(key, "wire.") && len(f) > 0 && len(f[0].Names) > 0 && f[0].Names[0].Name == "SessionUpdate" {
			names = append(names, r.name(key))
		}
	}
	r.printf("\n// What a notification's updates and a log's lines are: told apart by sessionUpdate.\nexport type Update = %s\n", strings.Join(names, " | "))
	r.used()
}

var signature = regexp.MustCompile(`^\(([^,]+), ([^)]+)\) (.*)$`)

// commands writes what each command takes and returns.
func (r *reference) commands(t *testing.T) {
	r.printf("\n// The commands of workspace/executeCommand.\nexport interface Commands {\n")
	for _, key := range r.texts {
		if !strings.HasPrefix(key, "wire.Command") {
			continue
		}
		m := signature.FindStringSubmatch(r.docs[key])
		if m == nil {
			t.Errorf("the comment of %s doesn't begin with (argument, result)", key)
			continue
		}
		for _, name := range strings.FieldsFunc(m[1]+"|"+m[2], func(c rune) bool { return c == '|' || c == ' ' }) {
			if at := slices.IndexFunc([]string{"wire." + name, "answers." + name}, func(key string) bool { return r.types[key] != nil }); at >= 0 {
				r.name([]string{"wire.", "answers."}[at] + name)
			} else if name != "{}" {
				t.Errorf("%s: there is no %s", key, name)
			}
		}
		r.printf("  // %s\n  %q: { argument: %s; result: %s }\n", upperFirst(m[3]), r.values[key], m[1], m[2])
	}
	r.printf("}\n")
	r.used()
}

// The types of the wire for authors of clients, who can copy them, are made of the source and its comments.
func TestTheTypesForClients(t *testing.T) {
	r := newReference(t)
	r.printf("// Code generated by go test ./wire -update. DO NOT EDIT: change the comments of the source.\n\n// The types of docs/PROTOCOL.md, for TypeScript.\n\n")
	r.printf("export type Time = string // RFC 3339, in UTC\nexport type Ms = number // milliseconds\nexport type USD = number // dollars\n")
	r.name("wire.UpdateParams")
	r.used()
	r.events()
	r.union("State", "How a loop stands.", "loop.State")
	r.union("StopReason", "Why a loop ended.", "loop.Stop")
	r.union("WaitReason", "Why a loop waits. An agent that waits by itself has other reasons, too: see Retry.", "loop.Wait")
	r.union("Can", "What can be done with a loop now.", "wire.Can")
	r.union("PauseReason", "Why a loop pauses.", "loop.Pause")
	r.name("wire.StatusParams")
	r.used()
	r.commands(t)
	r.union("CancelWhen", "When a loop is cancelled.", "wire.When")
	r.union("RefusalReason", "The data.reason of an error -32803.", "wire.Reason")
	for _, name := range []string{"answers.Tool", "wire.MissingAgent", "wire.Owner", "answers.ConfigProblem", "wire.PermissionResult",
		"wire.DiagnosticsParams", "wire.DiagnosticsResult", "wire.SetUpdatesParams"} {
		r.name(name)
	}
	r.used()
	const name = "../docs/protocol.ts"
	if *update {
		must.OK(t, os.WriteFile(name, []byte(r.text.String()), 0o644))
	}
	got, _ := os.ReadFile(name)
	if diff := cmp.Diff(string(got), r.text.String()); diff != "" {
		t.Errorf("%s isn't what the source makes (-file +source): go test ./wire -update\n%s", name, diff)
	}
}
