package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// anchors are the places of a page that GitHub gives a name.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		all[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// broken returns the links of a page that lead nowhere in the repository.
func broken(file string) (dead []string, n int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return []string{err.Error()}, 0
	}
	page := fenced.ReplaceAllString(string(text), "")
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		n++
		path, anchor, _ := strings.Cut(m[1], "#")
		target := file
		if path != "" {
			target = filepath.Join(filepath.Dir(file), path)
		}
		found, err := os.Stat(target)
		if err != nil {
			dead = append(dead, m[1])
			continue
		}
		if anchor == "" || found.IsDir() {
			continue
		}
		there, _ := os.ReadFile(target)
		if !anchors(fenced.ReplaceAllString(string(there), ""))[anchor] {
			dead = append(dead, m[1])
		}
	}
	return dead, n
}

func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "editors/*/*.md", "testdata/*.md", "internal/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		must.OK(t, err)
		for _, page := range pages {
			dead, n := broken(page)
			links += n
			for _, l := range dead {
				t.Errorf("%s: %s leads nowhere", page, l)
			}
		}
	}
	if links < 50 {
		t.Errorf("there are but %d links", links)
	}
}

func TestALinkThatLeadsNowhereIsFound(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "# A page: all `of` it\n\n[good](#a-page-all-of-it) [bad](#another) [gone](gone.md) [web](https://example.org)\n\n```\n[no link](x.md)\n```\n"
	must.OK(t, os.WriteFile(page, []byte(text), 0o600))
	dead, n := broken(page)
	if strings.Join(dead, " ") != "#another gone.md" || n != 3 {
		t.Errorf("found %q of %d", dead, n)
	}
}
