package stream

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// kept are forms in which agents really finish.
var kept = []string{
	"<promise>DONE</promise>",
	"All tests pass.\n\n<promise>DONE</promise>\n",
	"All tests pass.\r\n\r\n<promise>DONE</promise>\r\n",
	"All tests pass.\r<promise>DONE</promise>",
	"<promise>DONE</promise>\n\nWhat I did:\n- this\n- that",
	"  \t<promise> DONE </promise>  ",
	"<promise>\n  DONE\n</promise>",
	"Done.\n<promise>\nDONE</promise> 🎉",
	"**<promise>DONE</promise>**",
	"***<promise>DONE</promise>***",
	"_<promise>DONE</promise>_",
	"__<promise>DONE</promise>__.",
	"`<promise>DONE</promise>`",
	"``` <promise>DONE</promise> ```",
	"**`<promise>DONE</promise>`**",
	"# <promise>DONE</promise>",
	"### **<promise>DONE</promise>** ###",
	"- <promise>DONE</promise>",
	"* one\n  * two\n    - **<promise>DONE</promise>**",
	"1. <promise>DONE</promise>",
	"12) <promise>DONE</promise>",
	"- [x] <promise>DONE</promise>",
	"• <promise>DONE</promise>",
	"→ <promise>DONE</promise>",
	"✅ <promise>DONE</promise>",
	"✔️ <promise>DONE</promise> 🎉🎉",
	"👍🏽 <promise>DONE</promise>!",
	"<promise>DONE</promise>.",
	"<promise>DONE</promise>!!!",
	"<promise>DONE</promise> …",
	"Done! <promise>DONE</promise>",
	"All is done. <promise>DONE</promise>",
	"All is done. **<promise>DONE</promise>**.",
	"**All is done. <promise>DONE</promise>**",
	"**All is done.** <promise>DONE</promise>",
	"All is done (with tests.) <promise>DONE</promise>",
	"All is done ✅ <promise>DONE</promise>",
	"I mended main.go. <promise>DONE</promise>",
	"全部完了。<promise>DONE</promise>",
	"Done.\u00a0<promise>DONE</promise>\u200b",
	"I quoted it:\n> <promise>DONE</promise>\n\n<promise>DONE</promise>",
	"```go\nx := 1\n```\n<promise>DONE</promise>",
	"~~~\n```\n~~~\n<promise>DONE</promise>",
	"````\n```\n````\n<promise>DONE</promise>",
	"- ```\n  code\n  ```\n<promise>DONE</promise>",
	"Inline ```code``` is no block.\n<promise>DONE</promise>",
	"```not a `block`\n<promise>DONE</promise>",
	"<!-- a note --> \n<promise>DONE</promise>",
	"<!-- a\nnote -->\n<promise>DONE</promise>",
	"The mark <!-- begins a comment.\n<promise>DONE</promise>",
	"I opened <promise> once.\n<promise>DONE</promise>",
}

// talked are forms in which the promise is talked about.
var talked = map[string]NearKind{
	"I will output <promise>DONE</promise> only when all tests pass; not yet": NearSentence,
	"I can not output <promise>DONE</promise>.":                               NearSentence,
	"I can not output <promise>DONE</promise>":                                NearSentence,
	"I can not output **<promise>DONE</promise>**.":                           NearSentence,
	"I can not output `<promise>DONE</promise>`.":                             NearSentence,
	"I can not output this. `<promise>DONE</promise>`":                        NearSentence,
	"I can not output ... <promise>DONE</promise>":                            NearSentence,
	"I can not output … <promise>DONE</promise>":                              NearSentence,
	"The tag, e.g. <promise>DONE</promise>.":                                  NearSentence,
	"Not done. <promise>DONE</promise> is for later.":                         NearSentence,
	"Not done. <promise>DONE</promise> is for later.\nBye.":                   NearSentence,
	"Done. <promise>DONE</promise>\nNot really.":                              NearSentence,
	"Will say when done: <promise>DONE</promise>":                             NearSentence,
	"Noch nicht <promise>DONE</promise>":                                      NearSentence,
	"Is it done? <promise>DONE</promise>":                                     NearSentence,
	"<promise>DONE</promise>?":                                                NearSentence,
	"<promise>DONE</promise> (not yet)":                                       NearSentence,
	"<promise>DONE</promise> comes later":                                     NearSentence,
	"\"<promise>DONE</promise>\"":                                             NearSentence,
	"“All done. <promise>DONE</promise>”":                                     NearSentence,
	"'<promise>DONE</promise>'":                                               NearSentence,
	"(<promise>DONE</promise>)":                                               NearSentence,
	"~~<promise>DONE</promise>~~":                                             NearSentence,
	"- [ ] <promise>DONE</promise>":                                           NearSentence,
	"- ❌ <promise>DONE</promise>":                                             NearSentence,
	"<promise>DONE</promise> ⏳":                                               NearSentence,
	"Open ⚠️ <promise>DONE</promise>":                                         NearSentence,
	"| tag | <promise>DONE</promise> |":                                       NearSentence,
	"\\<promise>DONE</promise>":                                               NearSentence,
	"so <promise>DONE</promise> <promise>DONE</promise> or":                   NearSentence,
	"one <promise>DONE</promise> and <promise>DONE</promise>":                 NearSentence,
	"<promise>DONE</promise> and <promise>DONE</promise>":                     NearSentence,
	"step 1. <promise>DONE</promise>, then 2":                                 NearSentence,
	"```\n<promise>DONE</promise>\n```":                                       NearCode,
	"```xml\n<promise>DONE</promise>":                                         NearCode,
	"~~~\n<promise>DONE</promise>\n~~~":                                       NearCode,
	"~~~ `a`\n<promise>DONE</promise>\n~~~":                                   NearCode,
	"````\n```\n<promise>DONE</promise>\n````":                                NearCode,
	"```\n``` x\n<promise>DONE</promise>\n```":                                NearCode,
	"```\n~~~\n<promise>DONE</promise>\n```":                                  NearCode,
	"```\n    ```\n<promise>DONE</promise>\n```":                              NearCode,
	"```\n<!--\n```\n```\n<promise>DONE</promise>\n```\n-->":                  NearCode,
	"- a\n  1. ```\n     <promise>DONE</promise>\n     ```":                   NearCode,
	"> <promise>DONE</promise>":                                               NearQuote,
	"  >> <promise>DONE</promise>":                                            NearQuote,
	"- > <promise>DONE</promise>":                                             NearQuote,
	"> ```\n> <promise>DONE</promise>\n> ```":                                 NearQuote,
	"<!-- <promise>DONE</promise> -->":                                        NearComment,
	"<!--\n<promise>DONE</promise>\n-->\nx":                                   NearComment,
	"text <!-- a\n<promise>DONE</promise> -->":                                NearComment,
	"<!-- never closed\n<promise>DONE</promise>":                              NearComment,
	"<!-- one --> <!--\n<promise>DONE</promise>\n-->":                         NearComment,
}

func TestThePromiseStandsForItself(t *testing.T) {
	c := Completion{Promise: "DONE"}
	for _, text := range kept {
		if v := c.Judge(Result{Text: text}); !v.Matched || v.Promise != "DONE" {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for text, kind := range talked {
		v := c.Judge(Result{Text: text})
		if v.Matched || v.Kind != kind || v.Found != "DONE" || v.Expected != "DONE" {
			t.Errorf("%q: %+v, want a near miss %s", text, v, kind)
		}
		if unset := (Completion{}).Judge(Result{Text: text}); unset.Kind != NearUnset || unset.Found != "DONE" || unset.Expected != "" {
			t.Errorf("%q without a promise: %+v", text, unset)
		}
	}
}

// TestTheWordInTheSamePlaces has the word where the promise stands and where
// it is talked about.
func TestTheWordInTheSamePlaces(t *testing.T) {
	judge := func(text string) Verdict { return Completion{Promise: "OTHER"}.Judge(Result{Text: text}) }
	for _, text := range kept {
		in := strings.ReplaceAll(text, "DONE", DefaultWord)
		if v := judge(in); !v.Matched || v.Promise != DefaultWord {
			t.Errorf("%q: %+v", in, v)
		}
	}
	for text, kind := range talked {
		in := strings.ReplaceAll(text, "DONE", DefaultWord)
		if v := judge(in); v.Matched || v.Kind != kind || v.Expected != DefaultWord {
			t.Errorf("%q: %+v, want a near miss %s", in, v, kind)
		}
	}
	for _, text := range []string{
		"**LOOP_COMPLETE**", "LOOP_COMPLETE.", "LOOP_COMPLETE 🎉", "`LOOP_COMPLETE`", "# LOOP_COMPLETE", "_LOOP_COMPLETE_", "__LOOP_COMPLETE__!",
		"Good.\nLOOP_COMPLETE", "Good.\r\nLOOP_COMPLETE\r\n", "Good. LOOP_COMPLETE", "**Good. LOOP_COMPLETE**", "- LOOP_COMPLETE", "✅ LOOP_COMPLETE",
		"```\nLOOP_COMPLETE\n```", "Good.\n```text\nLOOP_COMPLETE\n```\n", "~~~\n\n**LOOP_COMPLETE**\n~~~", "```\nLOOP_COMPLETE", "LOOP_COMPLETE\n\n---\n🎉",
		"I may say LOOP_COMPLETE.\nLOOP_COMPLETE", "no <promise>LOOP_COMPLETE</promise>\nLOOP_COMPLETE",
	} {
		if v := judge(text); !v.Matched || v.Promise != DefaultWord {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for text, kind := range map[string]NearKind{
		"I can not say LOOP_COMPLETE.":            NearWord,
		"I can not say `LOOP_COMPLETE`":           NearWord,
		"Good. `LOOP_COMPLETE`":                   NearWord,
		"LOOP_COMPLETE, I guess":                  NearWord,
		"LOOP_COMPLETE: yes":                      NearWord,
		"LOOP_COMPLETE?":                          NearWord,
		"LOOP_COMPLETE ❌":                         NearWord,
		"~~LOOP_COMPLETE~~":                       NearWord,
		"LOOP_COMPLETE\nNot really.":              NearWord,
		"\"LOOP_COMPLETE\"":                       NearWord,
		"> LOOP_COMPLETE":                         NearQuote,
		"<!-- LOOP_COMPLETE -->":                  NearComment,
		"```\nLOOP_COMPLETE\n```\nsays the code":  NearCode,
		"```\nx\nLOOP_COMPLETE\n```":              NearCode,
		"```\nLOOP_COMPLETE\nx\n```":              NearCode,
		"```\na\n```\n```\nb\nLOOP_COMPLETE\n```": NearCode,
		"_loop_complete_ 🎉":                       NearWordCase,
		"NOT_LOOP_COMPLETE":                       NearNone,
		"LOOP_COMPLETED":                          NearNone,
		"____LOOP_COMPLETE":                       NearNone,
		"not loop_complete, no":                   NearNone,
	} {
		if v := judge(text); v.Matched || v.Kind != kind || v.Near != (kind != NearNone) {
			t.Errorf("%q: %+v, want %q", text, v, kind)
		}
	}
}

func TestPromisesOfAPrompt(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		"no tag, a promise":                nil,
		"output `<promise>DONE</promise>`": {"DONE"},
		"```\n<promise>\n ALL\t DONE </promise>\n```":                              {"ALL DONE"},
		"<promise>A</promise> or <promise>B</promise>, not <promise> A </promise>": {"A", "B"},
		"<promise></promise><promise> \n </promise>":                               nil,
		"<promise>...</promise>":                                                   {"..."},
		"<Promise>A</Promise> <promise>B</PROMISE>":                                nil,
		"open <promise> and <promise>DONE</promise>":                               {"DONE"},
		"close </promise> DONE </promise>":                                         nil,
		"<promise>DONE":                                                            nil,
		"> <!-- <promise>DONE</promise>":                                           {"DONE"},
	} {
		if got := Promises(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAnEchoIsNobodysPromise(t *testing.T) {
	given := "Build it. Then output\n\n<promise>DONE</promise>\n\nand nothing else.\n\nLOOP_COMPLETE"
	c := Completion{Promise: "DONE", Echo: []string{given}}
	for text, want := range map[string]bool{
		given:                                         false,
		"> so\n" + given + "\n":                       false,
		strings.ReplaceAll(given, " ", "\n   "):       false,
		given + "\n" + given:                          false,
		given + "\nBuilt.\n<promise>DONE</promise>":   true,
		"Built.\n<promise>DONE</promise>\n" + given:   true,
		"Then output\n\n<promise>DONE</promise>":      true, // it obeys
		"é " + given + "\n<promise>DONE</promise> é.": false,
	} {
		if v := c.Judge(Result{Text: text}); v.Matched != want {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for _, said := range []string{"<promise>DONE</promise>", DefaultWord} {
		c := Completion{Promise: "DONE", Echo: []string{" " + said + "\n"}}
		if v := c.Judge(Result{Text: said}); !v.Matched {
			t.Errorf("%s doesn't end the loop that is prompted so: %+v", said, v)
		}
	}
	if v := c.Judge(Result{Text: given}); v.Near {
		t.Errorf("an echo is no near miss: %+v", v)
	}
}

// The same text in other characters is the same promise.
func TestThePromiseInComposedCharacters(t *testing.T) {
	composed, decomposed := "Prüfung bestanden, café", "Pru\u0308fung bestanden, cafe\u0301"
	for _, promise := range []string{composed, decomposed} {
		for _, said := range []string{composed, decomposed} {
			if v := (Completion{Promise: promise}).Judge(Result{Text: "All is done.\n\n" + Tag(said)}); !v.Matched || v.Promise != composed {
				t.Errorf("%q for %q: %+v", said, promise, v)
			}
		}
	}
	if got := Promises(Tag(composed) + Tag(decomposed)); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// FuzzDecoration checks that decoration never changes a verdict.
func FuzzDecoration(f *testing.F) {
	f.Add("All done.", "DONE", uint8(0), uint8(3))
	f.Add("I can't:", "A B", uint8(5), uint8(7))
	f.Add("```\n", "X", uint8(9), uint8(1))
	f.Add("<!--", "", uint8(1), uint8(1))
	before := []string{"", "**", "_", "`", "# ", "- ", "✅ ", "  \t", "1. ", "- [x] **", "\r\n"}
	after := []string{"", "**", "_", "`", ".", "!", " 🎉", "  \t", " ✔️.", "\r\n\r\n", "…"}
	f.Fuzz(func(t *testing.T, above, promise string, b, a uint8) {
		if strings.Trim(promise, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") != "" || strings.Contains(above, DefaultWord) {
			return // what a promise may look like is another question
		}
		c := Completion{Promise: promise}
		for _, said := range []string{Tag(promise), DefaultWord} {
			plain := c.Judge(Result{Text: above + "\n" + said})
			text := above + "\n" + before[int(b)%len(before)] + said + after[int(a)%len(after)]
			if v := c.Judge(Result{Text: text}); v.Matched != plain.Matched || v.Promise != plain.Promise || v.Kind != plain.Kind {
				t.Errorf("%q: %+v, undecorated %+v", text, v, plain)
			}
		}
	})
}

// TestJudgingIsLinear has texts for which a careless search would take hours.
func TestJudgingIsLinear(t *testing.T) {
	const size = 1 << 16
	begin := time.Now()
	for _, piece := range []string{
		"<promise>", "</promise>", "<promise>x</promise>", "x<promise>DONE</promise>", "<promise>DONE</promise> ", "<promise>LOOP_COMPLETE</promise>",
		"LOOP_COMPLETE ", "xLOOP_COMPLETE", "_", "_LOOP_COMPLETE_", "<!--", "<!-- ", "-->", "<!-- <promise>DONE</promise>", "```\n", "`", "> ", "- ", "1. ",
		"\n", "\r", "*", "🎉", "<event ", "<event x>", "<event/>", "DONE ", "DONE", "a.b.", ". ",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for _, in := range []string{text, text + "<promise>DONE</promise>", "<promise>DONE</promise>" + text, "LOOP_COMPLETE" + text, text + "LOOP_COMPLETE"} {
			for _, promise := range []string{"", "_", "DONE DONE"} {
				Completion{Promise: promise, Echo: []string{piece + piece + "x"}}.Judge(Result{Text: in})
			}
		}
		Promises(text)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}
