package start

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
)

// budgetOf is the budget of the user whose settings these are. It is read again while a loop runs,
// so that one that is used can be raised.
func budgetOf(s config.Settings) budget.Book {
	ledger, _ := budget.Of() // without a folder it says so when it is read
	user := config.Files{UserDir: s.Files.UserDir, Builtin: s.Files.Builtin}
	var known budget.Limits
	var read string // how the file was that they are of
	return budget.Book{Ledger: ledger, Limits: s.Budget, Now: func() (budget.Limits, error) {
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
