package promises

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
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
	"# <promise>DONE</promise>",
	"### **<promise>DONE</promise>** ###",
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
	// What agents say before it is over without a full stop.
	"All tests pass\n<promise>DONE</promise>",
	"Done\n\n<promise>DONE</promise>",
	"## Summary\n\n<promise>DONE</promise>",
	"**All green**\n\n<promise>DONE</promise>",
	"I fixed:\n- the lexer\n- the parser, and\n- the printer\n\n<promise>DONE</promise>",
	"1. Ran `go test ./...`\n2. Committed\n<promise>DONE</promise>",
	"- [x] the parser\n- [x] its tests\n\n<promise>DONE</promise>",
	"- one\n\n  with more\n\n<promise>DONE</promise>",
	"| test | result |\n|---|---|\n| all | pass |\n\n<promise>DONE</promise>",
	"全部测试通过\n<promise>DONE</promise>",
	"すべて完了しました\n\n<promise>DONE</promise>",
	"Alle Tests laufen durch\n\n<promise>DONE</promise>",
	"Commit 1a2b3c4\n<promise>DONE</promise>",
	"See https://example.com/a/is\n<promise>DONE</promise>",
	"It works on macOS as well 🎉\n<promise>DONE</promise>",
	"Did I miss anything? No\n<promise>DONE</promise>",
	"\"All done\"\n<promise>DONE</promise>",
	"All flags parse, checks write\n<promise>DONE</promise>",
	"I never skip a test. The output is checked\n<promise>DONE</promise>",
	"---\n<promise>DONE</promise>\n---",
	"<promise>DONE</promise>\n\n`go test` passes.",
	"<promise>DONE</promise>\n- nothing is left",
	"<promise>DONE</promise>\n12 tests pass.",
	"Done.\n<details>\n<summary>log</summary>\nok\n</details>\n\n<promise>DONE</promise>",
	"I use `<details>` in the README.\n<promise>DONE</promise>",
	"<details><summary>log</summary>ok</details>\n<promise>DONE</promise>",
	"<detailsx>\n<promise>DONE</promise>",
	"A lone ` here.\n<promise>DONE</promise>",
	// Decoration doesn't matter.
	"`<promise>DONE</promise>`",
	"``` <promise>DONE</promise> ```",
	"**`<promise>DONE</promise>`**",
	"All tests pass.\n`<promise>DONE</promise>` ✅",
	"<promise>DONE</promise> ✓",
	"<promise>DONE</promise> ✔",
	"<promise>DONE</promise>`",
	"<!-- the end --> <promise>DONE</promise>",
	"Done. <promise>DONE</promise>\n<!-- the end -->",
	// What leads in to it says that all is done.
	"All done:\n\n<promise>DONE</promise>",
	"**All done:**\n\n<promise>DONE</promise>",
	"The task is complete:\n<promise>DONE</promise>",
	"Every test passes, so:\n\n<promise>DONE</promise>",
	"I have finished, and\n<promise>DONE</promise>",
	"It should print 42 now.\n<promise>DONE</promise>",
	"I did not claim more than that.\n<promise>DONE</promise>",
	"<promise>DONE</promise>\n\nIf you want more tests, tell me.",
	"<promise>DONE</promise>\n\nNot covered: Windows.",
}

// talked are forms in which the promise is talked about.
var talked = map[string]stream.NearKind{
	"I will output <promise>DONE</promise> only when all tests pass; not yet":                    NearSentence,
	"I can not output <promise>DONE</promise>.":                                                  NearSentence,
	"I can not output <promise>DONE</promise>":                                                   NearSentence,
	"I can not output **<promise>DONE</promise>**.":                                              NearSentence,
	"I can not output `<promise>DONE</promise>`.":                                                NearCode,
	"I can not output this. `<promise>DONE</promise>`":                                           NearCode,
	"I can not output ... <promise>DONE</promise>":                                               NearSentence,
	"I can not output … <promise>DONE</promise>":                                                 NearSentence,
	"The tag, e.g. <promise>DONE</promise>.":                                                     NearSentence,
	"Not done. <promise>DONE</promise> is for later.":                                            NearSentence,
	"Not done. <promise>DONE</promise> is for later.\nBye.":                                      NearSentence,
	"Done. <promise>DONE</promise>\nNot really.":                                                 NearSentence,
	"Will say when done: <promise>DONE</promise>":                                                NearSentence,
	"Noch nicht <promise>DONE</promise>":                                                         NearSentence,
	"Is it done? <promise>DONE</promise>":                                                        NearSentence,
	"<promise>DONE</promise>?":                                                                   NearSentence,
	"<promise>DONE</promise> (not yet)":                                                          NearSentence,
	"<promise>DONE</promise> comes later":                                                        NearSentence,
	"\"<promise>DONE</promise>\"":                                                                NearSentence,
	"“All done. <promise>DONE</promise>”":                                                        NearSentence,
	"'<promise>DONE</promise>'":                                                                  NearSentence,
	"(<promise>DONE</promise>)":                                                                  NearSentence,
	"~~<promise>DONE</promise>~~":                                                                NearSentence,
	"- [ ] <promise>DONE</promise>":                                                              NearList,
	"- ❌ <promise>DONE</promise>":                                                                NearList,
	"<promise>DONE</promise> ⏳":                                                                  NearSentence,
	"Open ⚠️ <promise>DONE</promise>":                                                            NearSentence,
	"| tag | <promise>DONE</promise> |":                                                          NearSentence,
	"\\<promise>DONE</promise>":                                                                  NearSentence,
	"so <promise>DONE</promise> <promise>DONE</promise> or":                                      NearSentence,
	"one <promise>DONE</promise> and <promise>DONE</promise>":                                    NearSentence,
	"<promise>DONE</promise> and <promise>DONE</promise>":                                        NearSentence,
	"step 1. <promise>DONE</promise>, then 2":                                                    NearSentence,
	"```\n<promise>DONE</promise>\n```":                                                          NearCode,
	"```xml\n<promise>DONE</promise>":                                                            NearCode,
	"~~~\n<promise>DONE</promise>\n~~~":                                                          NearCode,
	"~~~ `a`\n<promise>DONE</promise>\n~~~":                                                      NearCode,
	"````\n```\n<promise>DONE</promise>\n````":                                                   NearCode,
	"```\n``` x\n<promise>DONE</promise>\n```":                                                   NearCode,
	"```\n~~~\n<promise>DONE</promise>\n```":                                                     NearCode,
	"```\n    ```\n<promise>DONE</promise>\n```":                                                 NearCode,
	"```\n<!--\n```\n```\n<promise>DONE</promise>\n```\n-->":                                     NearCode,
	"- a\n  1. ```\n     <promise>DONE</promise>\n     ```":                                      NearCode,
	"> <promise>DONE</promise>":                                                                  NearQuote,
	"  >> <promise>DONE</promise>":                                                               NearQuote,
	"- > <promise>DONE</promise>":                                                                NearQuote,
	"> ```\n> <promise>DONE</promise>\n> ```":                                                    NearQuote,
	"<!-- <promise>DONE</promise> -->":                                                           NearComment,
	"<!--\n<promise>DONE</promise>\n-->\nx":                                                      NearComment,
	"text <!-- a\n<promise>DONE</promise> -->":                                                   NearComment,
	"<!-- never closed\n<promise>DONE</promise>":                                                 NearComment,
	"I would be lying if I said\n<promise>DONE</promise>":                                        NearSentence,
	"<promise>DONE</promise>\n\nThe above is only what I would say if it was finished.":          NearSentence,
	"<promise>DONE</promise>\n\n**The tag above** is not meant yet.":                             NearSentence,
	"<promise>DONE</promise>\nHowever, two tests fail.":                                          NearSentence,
	"<promise>DONE</promise>\nNot yet.":                                                          NearSentence,
	"When all is done:\n<promise>DONE</promise>":                                                 NearSentence,
	"Still to be done:\n<promise>DONE</promise>":                                                 NearSentence,
	"Once every test is green:\n<promise>DONE</promise>":                                         NearSentence,
	"The tests fail, so I must not output the promise.\n\n<promise>DONE</promise>":               NearSentence,
	"I can't output the tag. <promise>DONE</promise>":                                            NearSentence,
	"It isn't finished:\n<promise>DONE</promise>":                                                NearSentence,
	"I'll be finished soon:\n<promise>DONE</promise>":                                            NearSentence,
	"I fixed two of three:\n<promise>DONE</promise>":                                             NearSentence,
	"I can not say `<promise>DONE</promise>` here":                                               NearCode,
	"- All done:\n  <promise>DONE</promise>":                                                     NearList,
	"> All done:\n> <promise>DONE</promise>":                                                     NearQuote,
	"Once they pass I will output:\n\n<promise>DONE</promise>":                                   NearSentence,
	"the final line must be\n<promise>DONE</promise>\nbut the tests still fail.":                 NearSentence,
	"the final line must be\n<promise>DONE</promise>":                                            NearSentence,
	"<promise>DONE</promise>\nbut the tests still fail.":                                         NearSentence,
	"I should not print the completion tag\n\n<promise>DONE</promise>\n\nuntil the tests pass.":  NearSentence,
	"I should not print the completion tag\n\n<promise>DONE</promise>":                           NearSentence,
	"I don't write the tag\n<promise>DONE</promise>":                                             NearSentence,
	"<promise>DONE</promise>\n\nuntil the tests pass.":                                           NearSentence,
	"<promise>DONE</promise>\n\n**until** the tests pass.":                                       NearSentence,
	"<promise>DONE</promise>\n… comes later":                                                     NearSentence,
	"<promise>DONE</promise>\n(not yet)":                                                         NearSentence,
	"I do not claim:\n✅ <promise>DONE</promise>":                                                 NearSentence,
	"I do not claim:\n<promise>DONE</promise>":                                                   NearSentence,
	"**I do not claim:**\n\n<promise>DONE</promise>":                                             NearSentence,
	"When all is done`:`\n<promise>DONE</promise>":                                               NearSentence,
	"Not before it works,\n\n<promise>DONE</promise>":                                            NearSentence,
	"还没有：\n<promise>DONE</promise>":                                                              NearSentence,
	"I'll say:\n<promise>DONE</promise>\n<promise>DONE</promise>":                                NearSentence,
	"<promise>DONE</promise>\n<promise>DONE</promise>\nlater":                                    NearSentence,
	"Done. <promise>DONE</promise>\nnot really.":                                                 NearSentence,
	"TODO next run:\n1. fix lexer\n3. <promise>DONE</promise>":                                   NearList,
	"TODO next run:\n1. fix lexer\n   <promise>DONE</promise>":                                   NearList,
	"- last\n\n  <promise>DONE</promise>":                                                        NearList,
	"- <promise>DONE</promise>":                                                                  NearList,
	"* one\n  * two\n    - **<promise>DONE</promise>**":                                          NearList,
	"1. <promise>DONE</promise>":                                                                 NearList,
	"**12)** <promise>DONE</promise>":                                                            NearList,
	"- [x] <promise>DONE</promise>":                                                              NearList,
	"- All is done. <promise>DONE</promise>":                                                     NearList,
	"• <promise>DONE</promise>":                                                                  NearList,
	"<details>\n<summary>plan</summary>\n\n<promise>DONE</promise>\n\n</details>\nstill working": NearDetails,
	"<DETAILS open>\n<promise>DONE</promise>":                                                    NearDetails,
	"<details>\n<summary>a</summary> x </summary>\n<promise>DONE</promise>":                      NearDetails,
	"<pre>\n<promise>DONE</promise>\n</pre>":                                                     NearCode,
	"<blockquote>\n<promise>DONE</promise>\n</blockquote>":                                       NearQuote,
	"a ` and `` <promise>DONE</promise> ``":                                                      NearCode,
	"<!-- one --> <!--\n<promise>DONE</promise>\n-->":                                            NearComment,
}

func TestThePromiseStandsForItself(t *testing.T) {
	c := Completion{Promise: "DONE"}
	for _, text := range kept {
		if v := c.Judge(stream.Result{Text: text}); !v.Matched || v.Promise != "DONE" {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for text, kind := range talked {
		v := c.Judge(stream.Result{Text: text})
		if v.Matched || v.Kind != kind || v.Found != "DONE" || v.Expected != "DONE" {
			t.Errorf("%q: %+v, want a near miss %s", text, v, kind)
		}
		if unset := (Completion{}).Judge(stream.Result{Text: text}); unset.Kind != NearUnset || unset.Found != "DONE" || unset.Expected != "" {
			t.Errorf("%q without a promise: %+v", text, unset)
		}
	}
}

// TestTheWordInTheSamePlaces has the word where the promise stands and where
// it is talked about.
func TestTheWordInTheSamePlaces(t *testing.T) {
	judge := func(text string) Verdict { return Completion{Promise: "OTHER"}.Judge(stream.Result{Text: text}) }
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
		"**LOOP_COMPLETE**", "LOOP_COMPLETE.", "LOOP_COMPLETE 🎉", "# LOOP_COMPLETE", "_LOOP_COMPLETE_", "__LOOP_COMPLETE__!",
		"Good.\nLOOP_COMPLETE", "Good.\r\nLOOP_COMPLETE\r\n", "Good. LOOP_COMPLETE", "**Good. LOOP_COMPLETE**", "✅ LOOP_COMPLETE",
		"LOOP_COMPLETE\n\n---\n🎉", "All tests pass\nLOOP_COMPLETE", "LOOP_COMPLETE\n<event topic=\"t\">x</event>",
		"I may say LOOP_COMPLETE.\nLOOP_COMPLETE", "no <promise>LOOP_COMPLETE</promise>\nLOOP_COMPLETE",
	} {
		if v := judge(text); !v.Matched || v.Promise != DefaultWord {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for text, kind := range map[string]stream.NearKind{
		"I can not say LOOP_COMPLETE.":            NearWord,
		"I can not say `LOOP_COMPLETE`":           NearCode,
		"Good. `LOOP_COMPLETE`":                   NearCode,
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
		"```\nLOOP_COMPLETE\n```":                 NearCode,
		"- LOOP_COMPLETE":                         NearList,
		"I will output:\n\nLOOP_COMPLETE":         NearWord,
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
		"working on: " + given + "\nLOOP_COMPLETE":    true, // its line is complete with it
		"Working on:\n" + given + "\nLOOP_COMPLETE":   true,
		"I can't output " + given + "\nLOOP_COMPLETE": false,
		"working on: " + given + " LOOP_COMPLETE":     false,
	} {
		if v := c.Judge(stream.Result{Text: text}); v.Matched != want {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for _, said := range []string{"<promise>DONE</promise>", DefaultWord} {
		c := Completion{Promise: "DONE", Echo: []string{" " + said + "\n"}}
		if v := c.Judge(stream.Result{Text: said}); !v.Matched {
			t.Errorf("%s doesn't end the loop that is prompted so: %+v", said, v)
		}
	}
	if v := c.Judge(stream.Result{Text: given}); v.Near {
		t.Errorf("an echo is no near miss: %+v", v)
	}
}

// The same text in other characters is the same promise.
func TestThePromiseInComposedCharacters(t *testing.T) {
	composed, decomposed := "Prüfung bestanden, café", "Pru\u0308fung bestanden, cafe\u0301"
	for _, promise := range []string{composed, decomposed} {
		for _, said := range []string{composed, decomposed} {
			if v := (Completion{Promise: promise}).Judge(stream.Result{Text: "All is done.\n\n" + Tag(said)}); !v.Matched || v.Promise != composed {
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
	before := []string{"", "**", "_", "# ", "✅ ", "  \t", "→ ", "\r\n"}
	after := []string{"", "**", "_", ".", "!", " 🎉", "  \t", " ✔️.", "\r\n\r\n", "…"}
	f.Fuzz(func(t *testing.T, above, promise string, b, a uint8) {
		if strings.Trim(promise, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") != "" || strings.Contains(above, DefaultWord) {
			return // what a promise may look like is another question
		}
		c := Completion{Promise: promise}
		for _, said := range []string{Tag(promise), DefaultWord} {
			plain := c.Judge(stream.Result{Text: above + "\n" + said})
			text := above + "\n" + before[int(b)%len(before)] + said + after[int(a)%len(after)]
			if v := c.Judge(stream.Result{Text: text}); v.Matched != plain.Matched || v.Promise != plain.Promise || v.Kind != plain.Kind {
				t.Errorf("%q: %+v, undecorated %+v", text, v, plain)
			}
		}
	})
}
