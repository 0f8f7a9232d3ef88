package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// logFlags say how a part that runs for long logs.
type logFlags struct{ format, level start.Choice }

func (l *logFlags) addFlags(f *pflag.FlagSet) {
	l.format = start.Choice{Value: "text", Of: config.LogFormats}
	l.level = start.Choice{Value: "info", Of: config.LogLevels}
	f.Var(&l.format, "log-format", "how to log")
	f.Var(&l.level, "log-level", "from which level on to log")
}

// logger logs to w. What opens the bus, and who may use a URL, is in no line.
func (l logFlags) logger(w io.Writer, token string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level.Value)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(harmless(v, token))
		case error:
			a.Value = slog.StringValue(harmless(v.Error(), token))
		case time.Duration: // in JSON it would be a number without its unit
			a.Value = slog.StringValue(v.String())
		}
		return a
	}}
	if l.format.Value == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}

// harmless is a text without the token, and without names and passwords in URLs.
func harmless(text, token string) string {
	if token != "" {
		text = strings.ReplaceAll(text, token, "***")
	}
	return format.WithoutUserinfo(text)
}
