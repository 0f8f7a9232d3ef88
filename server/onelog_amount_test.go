//go:build !race

package server

import "testing"

// TestOneLogOfMany is TestOneLog with as many loops as find what seldom happens.
func TestOneLogOfMany(t *testing.T) { oneLogs(t, 6, 24) }
