package wire

import (
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// noticeOfCheck is what a person is told of a check. That it runs is told once.
func noticeOfCheck(e loop.Verify) Notice {
	if e.State == verify.Running && e.Output != "" {
		return Notice{}
	}
	return Notice{VerifyText(e), VerifyClass(e), e.Promised && VerifyClass(e) == ClassWarning, OffersOf(e.Offer)}
}

// VerifyText says how far a check has come: "promised, but go test ./... failed
// (exit 1): TestParse".
func VerifyText(e loop.Verify) string {
	what := OneLine(e.Command) + " " + Sentence(e.Why)
	took := JoinFacts(CostText(e.Cost, 0), format.Elapsed(time.Duration(e.Duration)))
	switch {
	case e.State == verify.Running && e.Gate == verify.ReviewerGate:
		return OneLine(e.Command) + " looks at the work"
	case e.State == verify.Running:
		return "verifying: " + OneLine(e.Command)
	case e.State == verify.Verified:
		return JoinFacts("verified: "+what, took)
	case e.State == verify.Unchecked && e.Promised:
		return JoinFacts("promised, but that can't be verified: "+what, took)
	case e.State == verify.Unchecked:
		return JoinFacts("not verified: "+what, took)
	case e.Promised:
		return JoinFacts("promised, but "+what, took)
	}
	return JoinFacts(what, took)
}

// VerifyClass says how a check's end is meant.
func VerifyClass(e loop.Verify) Class {
	switch e.State {
	case verify.Running:
		return ClassInfo
	case verify.Verified:
		return ClassOK
	}
	return ClassWarning
}

// GoalText says what ends a loop, and who says so.
func GoalText(e loop.Goal) string {
	says := "the agent says " + Sentence(promises.Tag(e.Promise))
	if e.Promise == "" {
		says = "the agent says " + promises.DefaultWord + " (no promise is set)"
	}
	if from := SourceText[config.Source(e.From)]; from != "" {
		says += " (from " + from + ")"
	}
	if e.Promise == "null" { // as the state file writes that there is none
		says += `, the text "null" (--completion-promise "" sets none)`
	}
	if e.Plan != "" {
		says = Sentence(e.Plan)
	}
	text := "this loop is done when " + says
	switch {
	case e.Until == "" && e.Verify == "" && e.Besides == "":
		nothing := "nothing"
		if e.Plan != "" { // its tasks are looked at
			nothing = "nothing else"
		}
		text += "; " + nothing + " verifies that" + SuggestionText(verify.Suggestion{Command: e.Suggested})
	case e.Until != "":
		text = "this loop is done when this passes: " + OneLine(e.Until)
	case e.Verify != "":
		text = fmt.Sprintf("this loop is done when %s, and this passes: %s", says, OneLine(e.Verify))
	}
	if e.Besides != "" {
		text += "; besides: " + OneLine(e.Besides)
	}
	if e.Money != "" {
		text += "; " + OneLine(e.Money)
	}
	return text
}

// suggestion tells behind a text how a promise could be verified.
func SuggestionText(s verify.Suggestion) string {
	if s.Command == "" {
		return ""
	}
	text := fmt.Sprintf("; --verify %q would", OneLine(s.Command))
	if s.File != "" { // of a row that doesn't say what it would
		text += " verify it (there is " + OneLine(s.File) + ")"
	}
	return text
}

// VerifiedBy lists the gates that a promise has to pass, each followed by the words of from; "" for none.
func VerifiedBy(c verify.Check, from func(verify.Gate) string) string {
	var parts []string
	for _, g := range verify.Gates() {
		if !c.Has(g) {
			continue
		}
		part := OneLine(c.Wants(g))
		if g == verify.CommandGate {
			if part = OneLine(c.String()); c.When == verify.OnUntil {
				part += ", which ends the loop as soon as it passes"
			}
		}
		parts = append(parts, part+from(g))
	}
	return JoinFacts(parts...)
}

// RefutedText says how often the agent has promised what isn't true: "refuted 2x".
func RefutedText(times int) string {
	if times == 0 {
		return ""
	}
	return fmt.Sprintf("refuted %dx", times)
}

// decideUnchecked are the commands for a promise that could not be verified.
func decideUnchecked(loopID, folder string) []Command {
	it := LoopParams{LoopID: loopID, Folder: FileURI(folder)}
	return []Command{
		{"Try Again", CommandResume, []any{ResumeParams{LoopParams: it}}},
		{"Accept This Once", CommandResume, []any{ResumeParams{LoopParams: it, Accept: true}}},
		{"Show the Changes", CommandChanges, []any{ChangesParams{LoopParams: it, Show: true}}},
	}
}
