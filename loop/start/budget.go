package start

import (
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
)

// budgetOf is the budget of the user whose settings these are. It is read again while a loop runs,
// so that one that is used can be raised.
func budgetOf(s config.Settings) budget.Book {
	ledger, _ := budget.Of() // without a folder it says so when it is read
	user := config.Files{UserDir: s.Files.UserDir, Builtin: s.Files.Builtin}
	return budget.Book{Ledger: ledger, Limits: s.Budget, Now: func() (budget.Limits, error) {
		now, err := user.Load()
		return now.Budget, err
	}}
}
