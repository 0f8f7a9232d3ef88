package notify

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// recipe is the script of docs/NIGHT.md that asks by a service.
func recipe(t *testing.T, service string) string {
	t.Helper()
	page := must.Read(t, "../../docs/NIGHT.md")
	for _, block := range regexp.MustCompile("(?s)```sh\n#!/bin/sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(block[1], "ralph-reply: asks by "+service) {
			return block[1]
		}
	}
	t.Fatalf("there is no recipe for %s", service)
	return ""
}

// serves runs a stand-in of a service: what it answers to a request, whose body is JSON or nothing.
func serves(t *testing.T, answer func(path string, body map[string]any) any) string {
	t.Helper()
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var body map[string]any
		if len(data) > 0 && json.Unmarshal(data, &body) != nil {
			t.Errorf("%s gets %s", r.URL, data)
		}
		switch said := answer(r.URL.String(), body).(type) {
		case string:
			fmt.Fprint(w, said)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": said})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func at(v any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	return v
}

func TestTheRecipeForNtfy(t *testing.T) {
	pressed := ""
	t.Setenv("RALPH_NTFY", serves(t, func(path string, body map[string]any) any {
		if path != "/" {
			return "an old key once\n" + pressed + "\n"
		}
		if at(body, "topic") != "mine" || at(body, "message") != "asks: Bash git push\ngit push" || at(body, "title") != "Ralph in project" {
			t.Errorf("sent %v", body)
		}
		if url := at(body, "actions", 1, "url").(string); !strings.HasSuffix(url, "/mine-answers") || at(body, "actions", 1, "label") != "Allow Once" {
			t.Errorf("its button is %v", at(body, "actions", 1))
		}
		pressed = at(body, "actions", 1, "body").(string)
		return ""
	})+"/mine")
	asksBy(t, "ntfy", "q1abc once by reply command")
}

func TestTheRecipeForTelegram(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	must.OK(t, os.MkdirAll(filepath.Join(home, ".config/ralph-lsp"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(home, ".config/ralph-lsp/telegram"), []byte("12:token\n77\n"), 0o600))
	message := func(chat, to int, text string) any {
		return map[string]any{"message": map[string]any{"chat": map[string]any{"id": chat}, "text": text, "reply_to_message": map[string]any{"message_id": to}}}
	}
	for _, tt := range []struct{ says, want string }{{"", "q1abc loop by reply command"}, {"deny not that; branch", "q1abc deny not that; branch by reply command"}} {
		var updates []any
		t.Setenv("RALPH_TELEGRAM", serves(t, func(path string, body map[string]any) any {
			if path == "/bot12:token/getUpdates" {
				return updates
			}
			if path != "/bot12:token/sendMessage" || at(body, "chat_id") != "77" || at(body, "text") != "Ralph in project\nasks: Bash git push\ngit push" {
				t.Errorf("%s: sent %v", path, body)
			}
			updates = []any{map[string]any{"callback_query": map[string]any{"data": "old once"}}, message(77, 4, "once"), message(78, 5, "once")}
			if tt.says != "" {
				updates = append(updates, message(77, 5, tt.says))
			} else {
				updates = append(updates, map[string]any{"callback_query": map[string]any{"data": at(body, "reply_markup", "inline_keyboard", 2, 0, "callback_data")}})
			}
			return map[string]any{"message_id": 5}
		}))
		asksBy(t, "a bot", tt.want)
	}
}

// asksBy asks a question by a recipe.
func asksBy(t *testing.T, service, want string) {
	t.Helper()
	p := asking(t, recipe(t, service), mayPush)
	p.HandleLoop(loop.Asked{Question: mayPush})
	p.under.Wait()
	if len(p.answers) != 1 || p.answers[0] != want || len(p.warns) > 0 {
		t.Errorf("answered %q, warned %q; want %q", p.answers, p.warns, want)
	}
}
