package tell

import "regexp"

var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s"'` + "`" + `]+@`)

// WithoutUserinfo replaces names, passwords and tokens in the URLs of a text.
func WithoutUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}***@") }
