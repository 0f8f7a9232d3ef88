package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// valueError says why a flag's value can't be taken, and what can.
type valueError struct{ message string }

func (e *valueError) Error() string { return e.message }

func badValue(format string, args ...any) error {
	return &valueError{fmt.Sprintf(format, args...)}
}

// count is a flag that takes 0 or more.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }
func (c *count) Type() string   { return "N" }
func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return badValue("%s is too large; 0 means no limit", s)
	case err != nil:
		return badValue("%q is not a whole number; give 0 (no limit) or more", s)
	case n < 0:
		return badValue("%d is negative; give 0 (no limit) or more", n)
	}
	*c = count(n)
	return nil
}

// usd is a flag that takes an amount of dollars.
type usd float64

func (u *usd) String() string { return strconv.FormatFloat(float64(*u), 'f', -1, 64) }
func (u *usd) Type() string   { return "USD" }
func (u *usd) Set(s string) error {
	amount, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	switch {
	case err != nil || math.IsNaN(amount) || math.IsInf(amount, 0):
		return badValue("%q is not an amount of dollars; write it like 2.50 (0 means no limit)", s)
	case amount < 0:
		return badValue("%s is negative; give 0 (no limit) or more", s)
	}
	*u = usd(amount)
	return nil
}

// span is a flag that takes a length of time.
type span time.Duration

func (d *span) String() string { return shortDuration(time.Duration(*d)) }
func (d *span) Type() string   { return "TIME" }
func (d *span) Set(s string) error {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 {
		return badValue("%q has no unit; write %ss, %sm or %sh", s, s, s, s)
	}
	length, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return badValue("%q is not a length of time; write it like 90s, 10m or 1h30m (0 means no limit)", s)
	case length < 0:
		return badValue("%s is negative; give 0 (no limit) or more", s)
	}
	*d = span(length)
	return nil
}

// shortDuration writes a duration without its zero parts: 4h, not 4h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.of, "|") }
func (c *choice) Set(s string) error {
	for _, known := range c.of {
		if s == known {
			c.value = s
			return nil
		}
	}
	hint := ""
	if near := nearest(s, c.of); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return badValue("%q is none of %s%s", s, strings.Join(c.of, ", "), hint)
}

// resolveFolder returns the absolute path of a folder that must exist.
func resolveFolder(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the folder %s doesn't exist; make it first, or give another one with -C", path)
	case err != nil:
		return "", fmt.Errorf("finding the folder: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is no folder; give one with -C", path)
	}
	return path, nil
}
