package client

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// folders are those that the editor has open.
func (c *Client) folders() []string {
	c.mu.Lock()
	watcher := c.watcher
	c.mu.Unlock()
	if watcher == nil {
		return nil
	}
	return watcher.Folders()
}

// origins know of which repositories the open folders are. Machines call different
// repositories the same: one counts only if it has the commit that the loop began with.
type origins struct {
	asking sync.Mutex // one git at a time

	mu     sync.Mutex
	repos  map[string]*repository // of folders
	wanted map[string][]string    // the commits that are to be looked for in them
	busy   bool                   // somebody looks
}

// repository says what a folder's repository is called by: its own place, and the URLs of its
// remotes; and which commits it has.
type repository struct {
	top     string
	remotes []string
	known   bool // that was looked at
	seen    map[string]sight
}

// sight is what is known of a commit.
type sight struct {
	isThere bool
	at      time.Time
}

// askAgain is when a commit is looked for again that a repository hadn't.
const askAgain = time.Minute

// of is find for who can't wait: what isn't known yet is looked at, and news is called then.
func (o *origins) of(r fleet.Record, folders []string, news func()) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	origin := o.match(r, folders)
	if len(o.wanted) > 0 && !o.busy {
		o.busy = true
		go func() {
			if o.look(context.Background()) { // git has its own patience
				news()
			}
		}()
	}
	return origin
}

// find waits for what isn't known, and looks again for what wasn't there.
func (o *origins) find(r fleet.Record, folders []string) string {
	o.mu.Lock()
	for _, repo := range o.repos {
		if !repo.seen[r.Base].isThere {
			delete(repo.seen, r.Base)
		}
	}
	origin := o.match(r, folders)
	o.mu.Unlock()
	if origin != "" {
		return origin
	}
	o.look(context.Background())
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.match(r, folders)
}

// match returns the folder that a loop is of, and notes what there is to look at. The caller holds mu.
func (o *origins) match(r fleet.Record, folders []string) (origin string) {
	for _, folder := range folders {
		repo := o.repos[folder]
		if repo == nil {
			repo = &repository{seen: map[string]sight{}}
			o.repos[folder] = repo
		}
		switch s := repo.seen[r.Base]; {
		case repo.known && !repo.isCalled(r, folder):
		case s.isThere:
			return folder
		case time.Since(s.at) > askAgain:
			repo.seen[r.Base] = sight{at: time.Now()}
			o.wanted[folder] = append(o.wanted[folder], r.Base)
		}
	}
	return ""
}

// isCalled says whether a loop's repository has the names of this one.
func (repo *repository) isCalled(r fleet.Record, folder string) bool {
	if r.Bundled {
		return repo.top != "" && (r.Repo == folder || r.Repo == repo.top || strings.HasPrefix(r.Repo, repo.top+string(filepath.Separator)))
	}
	return slices.ContainsFunc(repo.remotes, func(url string) bool { return sameURL(url, r.Repo) })
}

func sameURL(a, b string) bool {
	short := func(url string) string { return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git") }
	return short(a) == short(b)
}

// look asks git for all that was noted, and says whether there is news.
func (o *origins) look(ctx context.Context) (isNews bool) {
	o.asking.Lock()
	defer o.asking.Unlock()
	o.mu.Lock()
	wanted := o.wanted
	o.wanted, o.busy = map[string][]string{}, false // what is noted from here on needs another look
	o.mu.Unlock()
	for folder, commits := range wanted {
		top, remotes := namesOf(ctx, folder)
		has := hasCommits(ctx, folder, commits...)
		o.mu.Lock()
		repo := o.repos[folder]
		repo.top, repo.remotes, repo.known = top, remotes, true
		for _, commit := range commits {
			repo.seen[commit] = sight{has[commit], time.Now()}
		}
		o.mu.Unlock()
		isNews = isNews || len(has) > 0
	}
	return isNews
}

// namesOf asks git which repository a folder is of.
func namesOf(ctx context.Context, folder string) (top string, remotes []string) {
	program, err := git.Find()
	if err != nil {
		return "", nil
	}
	g := git.Git{Program: program, Dir: folder}
	if top, err = g.Text(ctx, nil, "rev-parse", "--show-toplevel"); err != nil {
		return "", nil
	}
	if urls, err := g.Text(ctx, nil, "config", "--get-regexp", `^remote\..*\.url$`); err == nil {
		for line := range strings.Lines(urls) {
			_, url, _ := strings.Cut(strings.TrimSpace(line), " ")
			remotes = append(remotes, url)
		}
	}
	return filepath.FromSlash(top), remotes
}

// hasCommits says which of these commits a repository has.
func hasCommits(ctx context.Context, dir string, commits ...string) map[string]bool {
	has := map[string]bool{}
	program, err := git.Find()
	if err != nil {
		return has
	}
	// It may be a copy of ours, and nothing is checked out.
	g := git.Git{Program: program, Dir: dir, Settings: []string{"safe.bareRepository=all"}}
	// what isn't said isn't there
	out, _ := g.Text(ctx, []byte(strings.Join(commits, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(out) {
		if commit, isOne := strings.CutSuffix(strings.TrimSpace(line), " commit"); isOne {
			has[commit] = true
		}
	}
	return has
}
