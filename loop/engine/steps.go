package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// joinSteps is what the agents of a step came to, for whoever comes behind them.
func joinSteps(places []setup.Place, texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for k, text := range texts {
		if k > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + places[k].Name + "\n\n" + strings.TrimSpace(text))
	}
	return b.String()
}

// onlyReads says whether nobody of a step may change a file.
func onlyReads(step []setup.Role) bool {
	return !slices.ContainsFunc(step, func(w setup.Role) bool { return !w.ReadOnly })
}

// afterStep says how much the last step changed. That is the iteration's all the same.
func (s *snapshots) afterStep(iteration int) (files int) {
	if s.begun == nil || s.store == nil {
		return 0
	}
	taken, err := s.store.After(s.going, iteration)
	s.tell(taken, err)
	_ = s.store.Begin() // what is wrong, the next snapshot says
	if err != nil {
		return 0
	}
	s.between = s.between || taken.Files > 0
	return taken.Files
}

// tellOfReaders says that agents of a step changed files, although they were to read only.
func (s *snapshots) tellOfReaders(places []setup.Place, iteration int) {
	if n := s.afterStep(iteration); n > 0 {
		var names []string
		for _, at := range places {
			names = append(names, at.Name)
		}
		who := places[0]
		who.Name = strings.Join(names, ", ")
		verb := "is"
		if len(places) > 1 {
			verb = "are"
		}
		s.warn(fmt.Sprintf("%s changed while %s ran, which %s to read only", tell.Counted(n, "file"), who, verb))
	}
}
