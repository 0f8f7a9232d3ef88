package config

import "net/url"

// checkWebhook completes "KEY ..." for what is no address of a webhook.
func checkWebhook(text string) string {
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return `is no address; write one such as "https://ntfy.example.com/ralph"`
	}
	return ""
}

// shown is a value as anybody may read it: who knows all of a webhook's address may use it.
func shown(key string, v any) any {
	if address, isText := v.(string); isText && key == "notify.webhook" {
		if u, err := url.Parse(address); err == nil {
			return u.Scheme + "://" + u.Host + "/***"
		}
	}
	return v
}
