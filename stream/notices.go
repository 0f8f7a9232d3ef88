package stream

import (
	"regexp"
	"strings"
	"sync"
)

// notice is a phrase by which providers and agents say that they do nothing more for now. Case doesn't matter, a blank
// is also a hyphen, an underscore or nothing, and * are up to three words.
type notice struct {
	phrase string
	kind   ErrorKind
	source string // who says it; testdata/notices.tsv has the whole texts and where they were found
}

// notices are looked for in this order. They come before the status, as some providers say so with a 400 or 403.
var notices = []notice{
	{"out of * usage", KindQuota, "claude: extra usage, usage credits"},
	{"out of * credits", KindQuota, "claude, cursor"},
	{"credit balance * too low", KindQuota, "Anthropic"},
	{"insufficient credit", KindQuota, "OpenRouter, amp"},
	{"requires more credits", KindQuota, "OpenRouter"},
	{"insufficient balance", KindQuota, "DeepSeek, opencode"},
	{"insufficient quota", KindQuota, "OpenAI"},
	{"you have no quota", KindQuota, "Copilot"},
	{"exceeded your premium request", KindQuota, "Copilot"},
	{"payment required", KindQuota, "HTTP"},

	{"rate limit", KindRateLimit, "all"},
	{"too many requests", KindRateLimit, "HTTP"},
	{"usage limit", KindRateLimit, "claude, codex"},
	{"session limit", KindRateLimit, "claude"},
	{"weekly limit", KindRateLimit, "claude"},
	{"daily limit", KindRateLimit, "OpenRouter"},
	{"hourly limit", KindRateLimit, "Groq"},
	{"monthly limit", KindRateLimit, "Copilot"},
	{"5 hour limit", KindRateLimit, "claude"},
	{"spend limit", KindRateLimit, "claude"},
	{"spending limit", KindRateLimit, "xAI"},
	{"request limit", KindRateLimit, "Groq"},
	{"token limit", KindRateLimit, "Groq"},
	{"requests per * limit", KindRateLimit, "Cerebras"},
	{"tokens per * limit", KindRateLimit, "Cerebras"},
	{"hit your * limit", KindRateLimit, "claude"},
	{"reached your * limit", KindRateLimit, "Cursor"},
	{"quota exceeded", KindRateLimit, "Gemini"},
	{"quota exhausted", KindRateLimit, "Gemini"},
	{"quota reached", KindRateLimit, "Gemini"},
	{"exceeded your * quota", KindRateLimit, "OpenAI, Gemini"},
	{"exhausted your * quota", KindRateLimit, "Gemini"},
	{"exhausted your capacity", KindRateLimit, "Gemini"},
	{"resource exhausted", KindRateLimit, "Gemini"},
	{"resource has been exhausted", KindRateLimit, "Gemini"},

	{"overloaded", KindOverloaded, "Anthropic"},
	{"at capacity", KindOverloaded, "OpenAI"},
	{"service unavailable", KindOverloaded, "HTTP"},
}

// phrases matches the notices of each kind. Few programs ever need it.
var phrases = sync.OnceValue(func() map[ErrorKind]*regexp.Regexp {
	all := map[ErrorKind][]string{}
	spaces := strings.NewReplacer(" * ", `s?[ _-]?(?:\S+ ){0,3}`, " ", `s?[ _-]?`)
	for _, n := range notices {
		all[n.kind] = append(all[n.kind], spaces.Replace(n.phrase))
	}
	compiled := map[ErrorKind]*regexp.Regexp{}
	for kind, patterns := range all {
		compiled[kind] = regexp.MustCompile(`(?i)` + strings.Join(patterns, "|"))
	}
	return compiled
})

// notes says whether a text has a notice of a kind.
func (k ErrorKind) notes(text string) bool { return phrases()[k].MatchString(text) }
