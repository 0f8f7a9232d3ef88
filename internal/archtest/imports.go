package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rules say what packages may import.
type Rules struct {
	// Module is the module's path.
	Module string
	// Arrows has what each package may import of the module, all relative to
	// Module. A package that isn't a key is a problem; a key that ends in
	// "/..." stands for the rest of a tree. Tests may also import internal
	// packages.
	Arrows map[string][]string
	// Fenced has path prefixes of other modules, with the only packages that
	// may import them.
	Fenced map[string][]string
}

// Imports returns the imports in tree that break the rules. All files count,
// whichever platform they are for.
func Imports(tree fs.FS, rules Rules) (problems []string, err error) {
	err = goFiles(tree, func(name string, content []byte) error {
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("reading imports: %w", err)
		}
		pkg := path.Dir(name)
		arrows, known := rules.arrows(pkg)
		if !known {
			problems = append(problems, fmt.Sprintf("%s: package %s is not in the picture", name, pkg))
			return nil
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("reading imports of %s: %w", name, err)
			}
			if why := rules.forbids(pkg, arrows, imported, strings.HasSuffix(name, "_test.go")); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s: %s", name, pkg, imported, why))
			}
		}
		return nil
	})
	return problems, err
}

// arrows returns what pkg may import of the module.
func (r Rules) arrows(pkg string) (allowed []string, known bool) {
	if allowed, known = r.Arrows[pkg]; known {
		return allowed, true
	}
	for key, allowed := range r.Arrows {
		if matches(key, pkg) {
			return allowed, true
		}
	}
	return nil, false
}

// forbids says why pkg may not import a package; empty: it may.
func (r Rules) forbids(pkg string, arrows []string, imported string, isTest bool) string {
	if own, ok := strings.CutPrefix(imported, r.Module+"/"); ok {
		isMatch := func(pattern string) bool { return matches(pattern, own) }
		switch {
		case own == pkg, slices.ContainsFunc(arrows, isMatch):
			return ""
		case isTest && strings.HasPrefix(own, "internal/"):
			return ""
		}
		return fmt.Sprintf("its arrows lead to %q only", arrows)
	}
	for prefix, rooms := range r.Fenced {
		if strings.HasPrefix(imported, prefix) && !slices.Contains(rooms, pkg) {
			return fmt.Sprintf("only %q may", rooms)
		}
	}
	return ""
}

// matches says whether a package is the pattern, or in its tree ("tree/...").
func matches(pattern, pkg string) bool {
	tree, ok := strings.CutSuffix(pattern, "/...")
	if !ok {
		return pattern == pkg
	}
	return pkg == tree || strings.HasPrefix(pkg, tree+"/")
}
