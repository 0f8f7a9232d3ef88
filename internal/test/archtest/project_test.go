package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Limits of a function and of a file, in lines, and of a line, in characters.
const (
	maxFunction = 80
	maxFile     = 500
	maxLine     = 140
)

// bars are what each room is to come below. Whoever makes one of the excused smaller lowers its
// number; lines are rounded up to hundreds.
var bars = Bars{Methods: 40, Fields: 30, Lines: 4000}

const root = "../../.."

func TestArrows(t *testing.T) {
	problems, err := Imports(os.DirFS(root), picture)
	report(t, problems, err)
}

// Who asks encodes: the service says things in Go.
func TestTheServiceKnowsNoEncoding(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "service", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the service has no files: %v", err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		must.OK(t, err)
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, "json") {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

func TestEveryArrowIsUsed(t *testing.T) {
	problems, err := Unused(os.DirFS(root), picture)
	report(t, problems, err)
}

func TestFunctionsAreShort(t *testing.T) {
	problems, err := LongFunctions(os.DirFS(root), maxFunction)
	report(t, problems, err)
}

func TestNothingGetsTooHeavy(t *testing.T) {
	problems, err := TooHeavy(os.DirFS(root), bars)
	report(t, problems, err)
}

func TestFilesAreShort(t *testing.T) {
	problems, err := LongFiles(os.DirFS(root), maxFile)
	report(t, problems, err)
}

func TestLinesAreShort(t *testing.T) {
	problems, err := WideLines(os.DirFS(root), maxLine)
	report(t, problems, err)
}

// The patterns are put together from parts, or this file would match them.
func TestNoPathsOfOneMachine(t *testing.T) {
	unwanted := map[*regexp.Regexp]string{
		regexp.MustCompile(`\.\./` + `shared\b`):                     "a path outside the repository",
		regexp.MustCompile(`https?://[^/"\s]*` + `registry[^/"\s]*`): "which registry is used is the user's setting",
	}
	checkout, err := filepath.Abs(root)
	must.OK(t, err)
	if strings.Count(filepath.ToSlash(checkout), "/") > 1 { // a short path may be an ordinary word
		unwanted[regexp.MustCompile(regexp.QuoteMeta(checkout)+`\b`)] = "the path of this checkout"
	}
	problems, err := Words(os.DirFS(root), unwanted)
	report(t, problems, err)
}

// A git that is run elsewhere runs what a repository says.
func TestGitIsRunInOneRoom(t *testing.T) {
	runs := regexp.MustCompile(`exec\.Command(Context)?\([^\n]*"git"`)
	var problems []string
	err := goFiles(os.DirFS(root), func(name string, content []byte) error {
		isOurs := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "tools/") || strings.HasPrefix(name, "e2e/") || strings.HasPrefix(name, "editors/")
		if !isOurs && !strings.HasSuffix(name, "_test.go") && runs.Match(content) {
			problems = append(problems, name+": git is run by internal/git, which keeps it from running what a repository names")
		}
		return nil
	})
	report(t, problems, err)
}

func report(t *testing.T, problems []string, err error) {
	t.Helper()
	must.OK(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}
