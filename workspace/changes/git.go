package changes

import (
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// ownSettings win over the user's and the repository's, beside the settings of all our gits.
var ownSettings = []string{"core.logAllRefUpdates=false", "i18n.commitEncoding=UTF-8"}

var ownEnv = []string{
	"GIT_AUTHOR_NAME=ralph-lsp", "GIT_AUTHOR_EMAIL=ralph-lsp@localhost",
	"GIT_COMMITTER_NAME=ralph-lsp", "GIT_COMMITTER_EMAIL=ralph-lsp@localhost",
}

func newGit(program, home string, b book) git.Git {
	settings := ownSettings
	if b.AsIs {
		settings = append(settings[:len(settings):len(settings)], "core.autocrlf=false")
	}
	return git.Git{Program: program, Dir: b.Top, NoFilters: b.AsIs, Settings: settings, Env: append(ownEnv[:len(ownEnv):len(ownEnv)],
		"GIT_LITERAL_PATHSPECS=1", "GIT_DIR="+b.GitDir, "GIT_WORK_TREE="+b.Top, "GIT_INDEX_FILE="+filepath.Join(home, indexName))}
}
