package start

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// budgetOf is the budget of the user whose settings these are.
func budgetOf(s config.Settings) budget.Book {
	ledger, _ := budget.Of() // without a folder it says so when it is read
	return budget.Book{Ledger: ledger, Limits: s.Budget}
}

// Host is a process of this user's that drives a loop. It reads their budget again while the loop
// runs, so that one that is used can be raised.
func Host() setup.Host {
	dir, _ := config.UserDir() // without one there is no budget
	user := config.Files{UserDir: dir, Builtin: backends.Names()}
	var known budget.Limits
	var read string // how the file was that they are of
	return setup.Host{Budget: func() (budget.Limits, error) {
		file := "none"
		if info, err := os.Stat(filepath.Join(user.UserDir, config.UserName)); err == nil {
			file = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
		}
		if file == read {
			return known, nil
		}
		now, err := user.Load()
		if err == nil {
			known, read = now.Budget, file
		}
		return now.Budget, err
	}}
}
