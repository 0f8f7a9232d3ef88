package config

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// want completes "KEY is ...; write ..." for a value of another type.
var want = map[Type]string{
	Table:    "keys below a line of [%s]",
	Text:     "a text in quotes",
	Texts:    `a list of texts such as ["--verbose"]`,
	Tables:   "a list such as %s",
	Command:  `a list such as ["go", "test", "./..."], or a text that the shell runs`,
	Count:    limits.Count.Wanted(),
	Dollars:  limits.USD.Wanted(),
	Duration: limits.Span.Wanted(),
	Switch:   "true or false",
	Backend:  `the name of a backend such as "pi"`,
}

// problem completes "KEY ..." for a value that isn't fit; "" when it is. v is
// what a TOML decoder makes of it.
func (k Key) problem(v any) string {
	ok, why := false, ""
	switch k.Type {
	case Table:
		_, ok = v.(map[string]any)
	case Text, Backend:
		var text string
		if text, ok = v.(string); ok {
			why = k.textProblem(text)
		}
	case Texts:
		ok, why = k.textsProblem(v)
	case Tables:
		ok, why = k.itemsProblem(v)
	case Command:
		ok, why = k.commandProblem(v)
	case Count:
		var n int64
		if n, ok = v.(int64); ok && n < 0 {
			why = fmt.Sprintf("is %d", n)
		} else if ok && k.max > 0 && (n < 1 || n > k.max) {
			why = fmt.Sprintf("is %d; write 1 to %d", n, k.max)
		}
	case Dollars:
		ok, why = dollarsProblem(v)
	case Duration:
		var text string
		if text, ok = v.(string); ok {
			if _, err := limits.ParseSpan(text); err != nil {
				why = err.Error()
			}
		}
	case Switch:
		_, ok = v.(bool)
	}
	wanted := want[k.Type]
	if k.Type == Tables {
		wanted = fmt.Sprintf(wanted, k.listed())
	}
	switch {
	case !ok && k.Type == Table:
		return fmt.Sprintf("is %s; write "+wanted, typeName(v), strings.Join(k.Path, "."))
	case !ok:
		return fmt.Sprintf("is %s; write %s", typeName(v), wanted)
	case why != "" && !strings.Contains(why, ";"):
		return why + "; write " + wanted
	}
	return why
}

func (k Key) textProblem(text string) string {
	if k.Values != nil && !slices.Contains(k.Values, text) {
		return fmt.Sprintf("is %q; write one of %s", text, strings.Join(k.Values, ", "))
	}
	if k.check != nil {
		return k.check(text)
	}
	return ""
}

func dollarsProblem(v any) (ok bool, why string) {
	var usd float64
	switch v := v.(type) {
	case int64:
		usd = float64(v)
	case float64:
		usd = v
	default:
		return false, ""
	}
	if !(usd >= 0) || math.IsInf(usd, 0) {
		why = fmt.Sprintf("is %v", v)
	}
	return true, why
}

// textsProblem tells all that is wrong with the items of a list: the first that
// is no text, and the texts that aren't fit.
func (k Key) textsProblem(v any) (ok bool, why string) {
	list, ok := v.([]any)
	var whys []string
	for i, item := range list {
		if text, isText := item.(string); isText {
			whys = append(whys, k.textProblem(text))
			if k.outside && i == 0 && strings.ContainsAny(text, `/\`) && !filepath.IsAbs(text) {
				whys = append(whys, fmt.Sprintf("runs %s, which would be a file of the loop's folder, and an agent may have written "+
					"that; write a name in PATH, or an absolute path", text))
			}
		} else if !slices.ContainsFunc(list[:i], isNoText) {
			whys = append(whys, fmt.Sprintf("has %s as item %d; write each item as a text in quotes", typeName(item), i+1))
		}
	}
	slices.Sort(whys)
	whys = slices.DeleteFunc(slices.Compact(whys), func(why string) bool { return why == "" })
	return ok, strings.Join(whys, "; it ")
}

// commandProblem completes "KEY ..." for a command, which is a text or a list.
func (k Key) commandProblem(v any) (ok bool, why string) {
	if _, isText := v.(string); !isText {
		if ok, why = k.textsProblem(v); !ok || why != "" {
			return ok, why
		}
	}
	check := commandOf(v)
	if !check.IsSet() {
		return true, checkPresent("")
	}
	return true, check.Problem()
}

func isNoText(v any) bool {
	_, isText := v.(string)
	return !isText
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	case []any:
		return "a list"
	}
	return "a date or time"
}

func checkPresent(text string) string {
	if strings.TrimSpace(text) == "" {
		return "is empty; leave it out or fill it in"
	}
	return ""
}

// checkReply completes "KEY ..." for an argument of a program that gets an agent's words: a shell would run them.
func checkReply(text string) string {
	for _, place := range []string{"{title}", "{text}"} {
		if strings.Contains(text, place) {
			return "contains " + place + ", where an agent's words would be arguments; read them from standard input, which has them as JSON"
		}
	}
	return checkPresent(text)
}

// checkEnv completes "KEY ..." for what is no variable with its value.
func checkEnv(text string) string {
	if name, _, ok := strings.Cut(text, "="); !ok || name == "" || strings.ContainsRune(text, 0) {
		return "has no variable; write NAME=value"
	}
	return ""
}

// placeholder is an argument, or a flag's value, that looks as if something
// were to be put in its place.
var placeholder = lazy.Regexp(`^(-[^=]*=)?(\{[a-z_]+\})$`)

// CheckArgument completes "KEY ..." for an argument that an agent can't get;
// "" when it can. It would get a placeholder as it is.
func CheckArgument(text string) string {
	if m := placeholder().FindStringSubmatch(text); m != nil {
		return fmt.Sprintf(`contains %s, but arguments have no placeholders; how the prompt goes in is said by prompt = "arg" or "file"`, m[2])
	}
	if strings.ContainsRune(text, 0) {
		return "contains a NUL character; remove it"
	}
	return ""
}

// checkWebhook completes "KEY ..." for what is no address of a webhook.
func checkWebhook(text string) string {
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return `is no address; write one such as "https://ntfy.example.com/ralph"`
	}
	return ""
}

// shown returns a value as anybody may read it: the whole address of a webhook is a secret.
func shown(key string, v any) any {
	if address, isText := v.(string); isText && key == "notify.webhook" {
		if u, err := url.Parse(address); err == nil {
			return u.Scheme + "://" + u.Host + "/***"
		}
	}
	return v
}
