//go:build !race

package acp

import "testing"

// Ten thousand lines are what it takes to come by each way in which a line can be broken.
func TestManyBrokenLines(t *testing.T) { checkBrokenLines(t, 10_000) }
