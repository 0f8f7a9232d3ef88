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
	// packages, and what is below their own in the tree.
	Arrows map[string][]string
	// Fenced has path prefixes of other modules, with the only packages that
	// may import them.
	Fenced map[string][]string
}

// Imports returns the imports in tree that break the rules. All files count,
// whichever platform they are for.
func Imports(tree fs.FS, rules Rules) (problems []string, err error) {
	err = eachImport(tree, func(name, pkg, imported string) {
		key, known := rules.key(pkg)
		switch {
		case !known && imported == "":
			problems = append(problems, fmt.Sprintf("%s: package %s is not in the picture", name, pkg))
		case known && imported != "":
			if why := rules.forbids(pkg, rules.Arrows[key], imported, strings.HasSuffix(name, "_test.go")); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s: %s", name, pkg, imported, why))
			}
		}
	})
	return problems, err
}

// Unused returns the rules that allow what nothing in tree does: a picture with
// arrows that aren't there is as wrong as one that lacks some.
func Unused(tree fs.FS, rules Rules) (problems []string, err error) {
	used := map[[2]string]bool{} // who imports, and what
	err = eachImport(tree, func(_, pkg, imported string) {
		key, _ := rules.key(pkg)
		used[[2]string{key}] = true
		own, isOwn := strings.CutPrefix(imported, rules.Module+"/")
		for _, pattern := range rules.Arrows[key] {
			if isOwn && own != pkg && matches(pattern, own) {
				used[[2]string{key, pattern}] = true
			}
		}
		for prefix := range rules.Fenced {
			if strings.HasPrefix(imported, prefix) {
				used[[2]string{pkg, prefix}] = true
			}
		}
	})
	for key, arrows := range rules.Arrows {
		if !used[[2]string{key}] {
			problems = append(problems, fmt.Sprintf("there is no package %s", key))
			continue
		}
		for _, pattern := range arrows {
			if !used[[2]string{key, pattern}] {
				problems = append(problems, fmt.Sprintf("%s may import %s, and doesn't", key, pattern))
			}
		}
	}
	for prefix, rooms := range rules.Fenced {
		for _, room := range rooms {
			if !used[[2]string{room, prefix}] {
				problems = append(problems, fmt.Sprintf("%s may import %s, and doesn't", room, prefix))
			}
		}
	}
	slices.Sort(problems)
	return problems, err
}

// eachImport calls visit with each import of each Go file, and once with an
// empty one for the file itself.
func eachImport(tree fs.FS, visit func(name, pkg, imported string)) error {
	return goFiles(tree, func(name string, content []byte) error {
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("reading imports: %w", err)
		}
		visit(name, path.Dir(name), "")
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("reading imports of %s: %w", name, err)
			}
			visit(name, path.Dir(name), imported)
		}
		return nil
	})
}

// key returns the key of the rule for pkg.
func (r Rules) key(pkg string) (key string, known bool) {
	if _, known = r.Arrows[pkg]; known {
		return pkg, true
	}
	for key := range r.Arrows {
		if matches(key, pkg) {
			return key, true
		}
	}
	return "", false
}

// forbids says why pkg may not import a package; empty: it may.
func (r Rules) forbids(pkg string, arrows []string, imported string, isTest bool) string {
	if own, ok := strings.CutPrefix(imported, r.Module+"/"); ok {
		isMatch := func(pattern string) bool { return matches(pattern, own) }
		switch {
		case own == pkg, slices.ContainsFunc(arrows, isMatch):
			return ""
		case isTest && (strings.HasPrefix(own, "internal/") || strings.HasPrefix(own, pkg+"/")):
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
