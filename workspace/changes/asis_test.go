package changes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Who carries a folder's files elsewhere takes the snapshot's tree for them, only where it has all of them as they are.
func TestATreeOfTheFilesAsTheyAre(t *testing.T) {
	theirs := filepath.Join(t.TempDir(), "config")
	must.OK(t, os.WriteFile(theirs, []byte("[core]\n\tautocrlf = input\n[filter \"caps\"]\n\tclean = tr a-z A-Z\n"), 0o600))
	t.Setenv("GIT_CONFIG_GLOBAL", theirs)
	own := []string{".pi/ralph"}
	for name, test := range map[string]struct {
		options func(o *Options)
		then    []string // files that change behind the snapshot
		isNone  bool
	}{
		"all of them":              {},
		"the loop's own":           {then: []string{".pi/ralph-loop", "2\n"}},
		"a file since then":        {then: []string{"a", "3\n"}, isNone: true},
		"a new one since then":     {then: []string{"d/new", "3\n"}, isNone: true},
		"one is gone since then":   {then: []string{"a", gone}, isNone: true},
		"one that agents may not":  {options: func(o *Options) { o.Hidden = []string{"secret"} }, isNone: true},
		"one that is too large":    {options: func(o *Options) { o.MaxFile = 1 }, isNone: true},
		"one that is nobody's":     {options: func(o *Options) { o.Skip = append(own, "notes.md") }, isNone: true},
		"of somebody with filters": {options: func(o *Options) { o.AsIs = false }, isNone: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := repository(t, "a", "1\n", ".gitattributes", "* filter=caps\n")
			f.opts.AsIs, f.opts.Skip = true, own
			if test.options != nil {
				test.options(&f.opts)
			}
			f.loop()
			f.after(1, "a", "two\r\n", "new", "2\n")
			f.write(test.then...)
			tree := f.AsIs(own)
			if isNone := tree == ""; isNone != test.isNone {
				t.Fatalf("the tree is %q", tree)
			}
			if !test.isNone && (!strings.HasPrefix(f.git("cat-file", "-p", tree+":a"), "two\r") || !strings.Contains(f.git("ls-tree", "--name-only", tree), "new")) {
				t.Errorf("it has %s", f.git("ls-tree", tree))
			}
		})
	}
}
