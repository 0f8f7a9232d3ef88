package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// starters are what starts a program in Go, by the package's import path.
var starters = map[string][]string{
	"os/exec":                       {"Command", "CommandContext", "Cmd"},
	"os":                            {"StartProcess"},
	"syscall":                       {"ForkExec", "StartProcess", "Exec", "CreateProcess", "CreateProcessAsUser"},
	"golang.org/x/sys/unix":         {"Exec"},
	"golang.org/x/sys/windows":      {"CreateProcess", "CreateProcessAsUser", "ShellExecute"},
	modulePath + "internal/outside": {"Command"},
	modulePath + "backends":         {"Start", "Interactive"},
}

const modulePath = "github.com/ralph-lsp/ralph-lsp/"

// startsInScript is what starts a program in TypeScript or JavaScript, and in Lua.
var startsInScript = map[string]*regexp.Regexp{
	".ts": regexp.MustCompile(`(?:^|[^.\w])(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork)\)?\(|\)\(execFile\)` +
		`|\(execFile\)\(|createTerminal\(|Terminal\(\{|new \w*LanguageClient\(|new QuietClient\(|new Definition\(` +
		`|ShellExecution\(|ProcessExecution\(`),
	".lua": regexp.MustCompile(`vim\s*\.system\(|(?:uv|loop)\.spawn\(|jobstart\(|termopen\(|io\.popen\(|os\.execute\(|fn\.system(?:list)?\(`),
}

// Started returns where the tree's programs start others: "dir/file.go:function", or "dir/file.lua", once for each place.
// What only serves tests and releases isn't looked at.
func Started(tree fs.FS) (sites []string, err error) {
	err = textFiles(tree, func(name string, content []byte) error {
		ext := path.Ext(name)
		if ext == ".mjs" || ext == ".js" || ext == ".cjs" {
			ext = ".ts"
		}
		switch pattern := startsInScript[ext]; {
		case isOfTests(name):
		case ext == ".go":
			found, err := startedInGo(name, content)
			sites = append(sites, found...)
			return err
		case pattern != nil:
			for range pattern.FindAll(content, -1) {
				sites = append(sites, name)
			}
		}
		return nil
	})
	slices.Sort(sites)
	return sites, err
}

// isOfTests says whether a file serves tests or makes releases, and is in no program of a user's.
func isOfTests(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	base := path.Base(name)
	return strings.HasSuffix(base, "_test.go") || strings.Contains(base, ".test.") || inTestdata(name) ||
		strings.HasPrefix(name, "internal/test/") ||
		slices.Contains([]string{"e2e", "tools", "release", "npm"}, top) || regexp.MustCompile(`^editors/\w+/(tests?|scripts)/`).MatchString(name)
}

// startedInGo finds the places of a Go file. Each use of a starter's name is one: as a value it is called elsewhere.
func startedInGo(name string, content []byte) (sites []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("looking for what starts programs: %w", err)
	}
	imported := map[string]string{} // by the names in the file
	for _, spec := range file.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		local := path.Base(from)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imported[local] = from
	}
	isOwn := func(call string) bool { return slices.Contains(starters[modulePath+path.Dir(name)], call) }
	for _, decl := range file.Decls {
		in := "var"
		fn, isFunc := decl.(*ast.FuncDecl)
		if isFunc {
			in = fn.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StarExpr: // a type
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(starters[imported[x.Name]], n.Sel.Name) {
					sites = append(sites, name+":"+in)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && isOwn(f.Name) {
					sites = append(sites, name+":"+in)
				}
			}
			return true
		})
	}
	return sites, nil
}

// listed is a place as the list has it.
var listed = regexp.MustCompile("`([\\w/.-]+\\.(?:go:\\w+|ts|mjs|lua))`")

// Unlisted compares where programs are started with the list of them in a section of a page.
func Unlisted(tree fs.FS, page, heading string) (problems []string, err error) {
	sites, err := Started(tree)
	if err != nil {
		return nil, err
	}
	content, err := fs.ReadFile(tree, page)
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(content), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var known []string
	for _, m := range listed.FindAllStringSubmatch(section, -1) {
		known = append(known, m[1])
	}
	count := func(all []string, one string) (n int) {
		for _, each := range all {
			if each == one {
				n++
			}
		}
		return n
	}
	for _, site := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(sites, known)))) {
		if starts, lists := count(sites, site), count(known, site); starts != lists {
			problems = append(problems, fmt.Sprintf("%s starts a program in %d places, and %s has %d of them below %q: say in "+
				"which folder and environment, and by which rule", site, starts, page, lists, heading))
		}
	}
	return problems, nil
}
