package main

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ralph-lsp/config"
	"ralph-lsp/internal/tell"
)

// logFlags say how a part that runs for long logs.
type logFlags struct{ format, level string }

func (l *logFlags) addFlags(f *pflag.FlagSet) {
	f.StringVar(&l.format, "log-format", "text", "log as "+strings.Join(config.LogFormats, " or "))
	f.StringVar(&l.level, "log-level", "info", "log from this `LEVEL` on: "+strings.Join(config.LogLevels, ", "))
}

// logger logs to w. What opens the bus, and who may use a URL, is in no line.
func (l logFlags) logger(w io.Writer, token string) (*slog.Logger, error) {
	if !slices.Contains(config.LogFormats, l.format) {
		return nil, fmt.Errorf("--log-format %s: it is %s", l.format, strings.Join(config.LogFormats, " or "))
	}
	level := slog.LevelInfo
	if !slices.Contains(config.LogLevels, l.level) || level.UnmarshalText([]byte(l.level)) != nil {
		return nil, fmt.Errorf("--log-level %s: it is one of %s", l.level, strings.Join(config.LogLevels, ", "))
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(harmless(v, token))
		case error:
			a.Value = slog.StringValue(harmless(v.Error(), token))
		}
		return a
	}}
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}

// harmless is a text without the token, and without names and passwords in URLs.
func harmless(text, token string) string {
	if token != "" {
		text = strings.ReplaceAll(text, token, "***")
	}
	return tell.WithoutUserinfo(text)
}
